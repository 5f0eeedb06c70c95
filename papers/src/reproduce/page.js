const shut = () => document.querySelectorAll(".large:checked").forEach((box) => (box.checked = false));
addEventListener("keydown", (event) => event.key == "Escape" && shut());
document.querySelectorAll(".contents a").forEach((way) => {
  way.addEventListener("click", () => way.closest(".contents").querySelector("details").removeAttribute("open"));
});
