/** A second click within this time and distance is part of a double click. */
export const doubleClickMsMax = 500;
const doubleClickRadiusPx = 10;

type Point = { x: number; y: number };

let lastClick: Point | undefined;
let suppressedClick: (Point & { untilMs: number }) | undefined;

/**
 * Ignores the second click of a double click after an action, because another button may have
 * appeared under the pointer. Returns a function that stops ignoring it.
 */
export const suppressDoubleClick = (): (() => void) => {
  const suppression = lastClick && { ...lastClick, untilMs: performance.now() + doubleClickMsMax };
  suppressedClick = suppression;
  return () => {
    if (suppressedClick === suppression) suppressedClick = undefined;
  };
};

const isDoubleClick = ({ clientX: x, clientY: y }: MouseEvent): boolean =>
  suppressedClick !== undefined &&
  performance.now() < suppressedClick.untilMs &&
  Math.hypot(x - suppressedClick.x, y - suppressedClick.y) < doubleClickRadiusPx;

/** Suppresses these second clicks on the whole page. */
export const installDoubleClickFilter = (): void => {
  let isIgnored = false;
  const filterEvent = (event: MouseEvent): void => {
    if (event.type === "pointerdown") {
      isIgnored = isDoubleClick(event);
      // A click elsewhere ends the suppression.
      if (!isIgnored) suppressedClick = undefined;
      lastClick = { x: event.clientX, y: event.clientY };
    }
    // A click with `detail` 0 comes from the keyboard and is never suppressed.
    if (!isIgnored || (event.type === "click" && event.detail === 0)) return;
    event.preventDefault();
    event.stopImmediatePropagation();
  };
  for (const type of ["pointerdown", "mousedown", "pointerup", "mouseup", "click"] as const) {
    addEventListener(type, filterEvent, true);
  }
};
