// A swap between press and release would lose the click, so the part "live" waits for the release.
let isPressed = false;
const release = () => {
  isPressed = false;
  setTimeout(() => dispatchEvent(new Event("released"))); // after the click
};
for (const kind of ["pointerdown", "keydown"]) addEventListener(kind, () => { isPressed = true; }, true);
for (const kind of ["pointerup", "pointercancel", "keyup"]) addEventListener(kind, release, true);
addEventListener("blur", release); // of the window: the release goes elsewhere
addEventListener("htmx:beforeSwap", (event) => {
  if (!isPressed || event.detail.target.id !== "live") return;
  event.detail.shouldSwap = false;
  addEventListener("released", () => htmx.trigger("#live", "again"), { once: true });
});
