/** Within this time, and so near, a second click belongs to the first. */
export const doubleClickMsMax = 500;
const doubleClickRadiusPx = 10;

type Point = { x: number; y: number };

let lastClick: Point | undefined;
let suppressedClick: (Point & { untilMs: number }) | undefined;

/**
 * Says that a click did something, after which another button may stand where the pointer is: a second
 * click there does nothing. Answers how to let it do something after all.
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

/** Keeps second clicks from everything in the page. */
export const installDoubleClickFilter = (): void => {
  let isIgnored = false;
  const filterEvent = (event: MouseEvent): void => {
    if (event.type === "pointerdown") {
      isIgnored = isDoubleClick(event);
      // Whoever was elsewhere meanwhile comes back for another click.
      if (!isIgnored) suppressedClick = undefined;
      lastClick = { x: event.clientX, y: event.clientY };
    }
    // A click without a pointer is a key.
    if (!isIgnored || (event.type === "click" && event.detail === 0)) return;
    event.preventDefault();
    event.stopImmediatePropagation();
  };
  for (const type of ["pointerdown", "mousedown", "pointerup", "mouseup", "click"] as const) {
    addEventListener(type, filterEvent, true);
  }
};
