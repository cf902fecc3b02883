// Tables that sort by a click on a heading and filter by words, without a library.
"use strict";
for (const table of document.querySelectorAll("table.sortable")) {
  const body = table.tBodies[0];
  const heads = [...table.tHead.rows[0].cells];
  const value = (row, i) => {
    const cell = row.cells[i];
    return cell.dataset.v === undefined ? cell.textContent : Number(cell.dataset.v);
  };
  // In both directions, cells without a number come last.
  const order = (a, b, direction) => {
    const numbers = typeof a === "number" && typeof b === "number";
    if (numbers) return direction * (a - b);
    if (typeof a !== typeof b) return typeof a === "number" ? -1 : 1;
    return direction * a.localeCompare(b, undefined, { numeric: true });
  };
  const sort = (i) => {
    const direction = heads[i].getAttribute("aria-sort") === "ascending" ? -1 : 1;
    for (const head of heads) head.removeAttribute("aria-sort");
    heads[i].setAttribute("aria-sort", direction > 0 ? "ascending" : "descending");
    const rows = [...body.rows];
    rows.sort((a, b) => order(value(a, i), value(b, i), direction));
    body.append(...rows);
  };
  heads.forEach((head, i) => {
    head.tabIndex = 0;
    head.title = "sort";
    head.addEventListener("click", () => sort(i));
    head.addEventListener("keydown", (event) => event.key === "Enter" && sort(i));
  });
  if (body.rows.length < 8) continue; // a short table needs no filter
  const filter = document.createElement("input");
  filter.className = "filter";
  filter.type = "search";
  filter.placeholder = "only rows with these words";
  filter.setAttribute("aria-label", filter.placeholder);
  filter.addEventListener("input", () => {
    const words = filter.value.toLowerCase().split(/\s+/).filter(Boolean);
    for (const row of body.rows) {
      const text = row.textContent.toLowerCase();
      row.hidden = !words.every((word) => text.includes(word));
    }
  });
  table.parentElement.before(filter);
}
// A link to something inside a folded section unfolds that section.
const unfoldTarget = () => {
  const target = location.hash && document.getElementById(decodeURIComponent(location.hash.slice(1)));
  for (let at = target; at; at = at.parentElement) if (at.tagName === "DETAILS") at.open = true;
  if (target) target.scrollIntoView();
};
addEventListener("hashchange", unfoldTarget);
unfoldTarget();
// Marks the link of the visible section, which is the last section that begins in the upper part of the window.
const links = new Map([...document.querySelectorAll("nav a")].map((a) => [document.getElementById(decodeURIComponent(a.hash.slice(1))), a]));
let current = null;
const markVisible = () => {
  const sections = [...links.keys()];
  const begun = sections.filter((section) => section.getBoundingClientRect().top < Math.max(130, 0.2 * innerHeight));
  const link = links.get(begun.length ? begun[begun.length - 1] : sections[0]);
  if (!link || link === current) return;
  if (current) current.removeAttribute("aria-current");
  (current = link).setAttribute("aria-current", "true");
  link.parentElement.scrollLeft = link.offsetLeft - 80;
};
let isUpdateRequested = false; // an update is waiting for the next frame
addEventListener("scroll", () => {
  if (!isUpdateRequested) requestAnimationFrame(() => { isUpdateRequested = false; markVisible(); });
  isUpdateRequested = true;
}, { passive: true });
addEventListener("resize", markVisible);
markVisible();
