// A swap between press and release would lose the click, so the part "live" waits for the release, but not for one that
// went elsewhere: to another window, or to a menu.
const LONGEST_PRESS_MS = 2000;
const RETRY_MS = 300;
let pressedAt = -Infinity;
for (const kind of ["pointerdown", "keydown"]) addEventListener(kind, () => { pressedAt = performance.now(); }, true);
for (const kind of ["pointerup", "pointercancel", "keyup"]) addEventListener(kind, () => { pressedAt = -Infinity; }, true);

const askAgain = (ms) => setTimeout(() => document.getElementById("live") && htmx.trigger("#live", "again"), ms);
let isTableOpen = false; // on the page that fills while you look
addEventListener("htmx:beforeSwap", (event) => {
  isTableOpen = Boolean(document.querySelector("#live details")?.open);
  if (event.detail.target.id !== "live" || performance.now() - pressedAt > LONGEST_PRESS_MS) return;
  event.detail.shouldSwap = false;
  askAgain(RETRY_MS);
});
addEventListener("htmx:afterSwap", () => {
  const table = document.querySelector("#live details");
  if (table) table.open = isTableOpen;
});

// Without an answer the page says so, and asks on: the machine may have slept.
addEventListener("htmx:sendError", () => {
  for (const one of document.querySelectorAll("#status, .work p")) one.textContent = "mag app does not answer; it may have ended.";
  askAgain(5 * LONGEST_PRESS_MS);
});
addEventListener("htmx:responseError", () => location.reload()); // to its sentence
