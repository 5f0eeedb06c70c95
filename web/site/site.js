"use strict";
// What the book's own pages lack for the keyboard and for screen readers.

// The label that opens the sidebar is a button, and says so.
const toggle = document.getElementById("mdbook-sidebar-toggle");
if (toggle) {
  toggle.setAttribute("role", "button");
  toggle.tabIndex = 0;
  toggle.addEventListener("keydown", (event) => {
    if (event.key !== "Enter" && event.key !== " ") return;
    event.preventDefault();
    toggle.click();
  });
}
// What is wider than the page can be scrolled with the arrows.
for (const wide of document.querySelectorAll("pre > code, .table-wrapper")) if (wide.scrollWidth > wide.clientWidth) wide.tabIndex = 0;
