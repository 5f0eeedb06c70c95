// ---- From the papers: their figures and findings, each a setting with what to look at, and maybe a parameter for a bet and the moment
// at which it stands, in ps. `#figure-3` opens one.
const PAPERS = {
  "figure-3": ["LogP, figure 3: a tree", "of=broadcast&a=optimal&b=&L=6&o=2&g=4&P=8", "LogP's figure 3: the best tree for 8 processors. The numbers beside its nodes are the paper's, and the last one has the datum at 24. Drag o: another tree is best."],
  "figure-4": ["LogP, figure 4: a sum", "of=summation&a=optimal&b=&L=5&o=2&g=4&P=8&size=79", "LogP's figure 4: 8 processors add 79 numbers in 28 cycles. Whoever sends its sum later has added more."],
  capacity: ["LogP: the capacity stall", "of=hot-spot&a=linear&b=&L=6&o=2&g=4&P=8", "LogP, section 3: at most L/g messages, rounded up, may be under way to a processor. Seven send to P0, two find room, five stall.", "L", 3e6],
  contention: ["LogP: the remap's contention", "of=remap&a=short-naive&b=short-staggered&machine=cm5&P=16&size=64", "LogP, section 4.1.2 and figure 6: in the naive order all send to P0 first, then to P1, and stall. In the staggered order each begins with the one after it."],
  "long-messages": ["LogGP: long messages", "of=remap&a=short-staggered&b=long-staggered&machine=cs2-splitc&P=4&size=64", "LogGP, figure 4, with less data: a message of its own for each word pays g each time; in a long message each further word pays G."],
  layouts: ["LogP: layouts for LU", "of=lu&a=grid-cyclic&b=grid-blocked&L=6&o=2&g=4&P=4", "LogP, section 4.2: rows and columns dealt in turn keep all processors at work. Where they lie together, three are idle at the end. This matrix is small: if messages cost more, blocks win, for they send fewer."],
};

function makePapers() {
  $("papers").append(element("option", "choose one", { value: "" }), ...Object.entries(PAPERS).map(([value, [text]]) => element("option", text, { value })));
  $("papers").addEventListener("change", () => { if ($("papers").value) location.hash = `#${$("papers").value}`; });
}

// What a paper's setting begins with besides.
function openPaper() {
  const [, , , name, at = null] = PAPERS[setting.paper] ?? [];
  stopPlay();
  moment.at = at;
  askBet(name, $("choice"));
}

const fieldsOf = (text, decoded = (part) => part) => text.split("&").filter(Boolean).map((field) => field.split("=").map(decoded));
