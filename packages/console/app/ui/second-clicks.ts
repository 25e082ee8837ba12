/** Within this time, and so near, a second click belongs to the first. */
export const secondMsMax = 500;
const nearPx = 10;

type Place = { x: number; y: number };

let last: Place | undefined;
let held: (Place & { until: number }) | undefined;

/**
 * Says that a click did something, after which another button may stand where the pointer is: a second
 * click there does nothing. Answers how to let it do something after all.
 */
export const holdClicks = (): (() => void) => {
  const own = last && { ...last, until: performance.now() + secondMsMax };
  held = own;
  return () => {
    if (held === own) held = undefined;
  };
};

const isSecond = ({ clientX: x, clientY: y }: MouseEvent): boolean =>
  held !== undefined &&
  performance.now() < held.until &&
  Math.hypot(x - held.x, y - held.y) < nearPx;

/** Keeps second clicks from everything in the page. */
export const ignoreSecondClicks = (): void => {
  let isIgnored = false;
  const look = (event: MouseEvent): void => {
    if (event.type === "pointerdown") {
      isIgnored = isSecond(event);
      // Whoever was elsewhere meanwhile comes back for another click.
      if (!isIgnored) held = undefined;
      last = { x: event.clientX, y: event.clientY };
    }
    // A click without a pointer is a key.
    if (!isIgnored || (event.type === "click" && event.detail === 0)) return;
    event.preventDefault();
    event.stopImmediatePropagation();
  };
  for (const type of ["pointerdown", "mousedown", "pointerup", "mouseup", "click"] as const) {
    addEventListener(type, look, true);
  }
};
