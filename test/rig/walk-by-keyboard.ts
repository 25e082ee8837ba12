import type { Locator, Page } from "playwright-core";
import { waitUntil } from "@payment-links/runtime/testing";

const stepsMax = 200;

/** Presses Tab until the element has the focus. */
export const focusByTab = async (element: Locator): Promise<void> => {
  await element.waitFor();
  await waitUntil(`${element.toString()} has the focus`, async () => {
    await element.page().keyboard.press("Tab");
    return element.evaluate((node) => node.matches(":focus"));
  });
};

/**
 * Moves through a page, or through its open dialog, with the Tab key from the beginning. Returns
 * the problems for a keyboard user: elements that cannot be reached, are out of order, or do not
 * show their focus.
 */
export const walkByKeyboard = async (page: Page): Promise<string[]> => {
  await page.evaluate(startWalkScript);
  const expectedCount = Number(await page.evaluate("window.walk.wanted.length"));
  // A date field takes several steps: day, month, year and its calendar.
  for (let step = 0, reachedCount = 0; step < stepsMax && reachedCount < expectedCount; step += 1) {
    await page.keyboard.press("Tab");
    reachedCount = Number(await page.evaluate("window.walk.note()"));
  }
  return page.evaluate<string[]>("window.walk.findFaults()");
};

// Runs in the page. Elements that are not rendered or are behind a dialog do not have to be
// reachable.
const startWalkScript = `(() => {
  const root = document.querySelector("dialog:modal") ?? document.body;
  const selector = "a[href], button, input, select, textarea, summary, [tabindex]";
  const isForScripts = (one) => !one.matches("a, button, input, select, textarea, summary") &&
    one.tabIndex < 0;
  // The Tab key reaches only the selected radio button of a group. Arrow keys reach the others.
  const isInGroup = (one) => one.type === "radio" && !one.checked &&
    root.querySelector('input[name="' + one.name + '"]:checked') !== null;
  const wanted = [...root.querySelectorAll(selector)].filter((one) => !one.disabled &&
    !isForScripts(one) && !isInGroup(one) && one.checkVisibility({ visibilityProperty: true }));
  const nameOf = (one) =>
    one.tagName.toLowerCase() + " " + (one.ariaLabel || one.innerText || one.name || one.id);
  const isShown = (one) => {
    const { outlineStyle, outlineWidth } = getComputedStyle(one);
    const { width, height, left, top } = one.getBoundingClientRect();
    const isInSight = width > 1 && height > 1 && left >= 0 && top >= 0 && top < innerHeight;
    return outlineStyle !== "none" && parseFloat(outlineWidth) >= 2 && isInSight;
  };
  const reached = new Set();
  const shown = new Set();
  window.walk = {
    wanted,
    note: () => {
      const one = document.activeElement;
      // The browser can also focus scrollable elements. They are ignored.
      if (wanted.includes(one)) reached.add(one);
      if (isShown(one)) shown.add(one);
      return reached.size;
    },
    findFaults: () => wanted.flatMap((one, index) => [
      ...(reached.has(one) ? [] : ["not reached: " + nameOf(one)]),
      ...([...reached][index] === one ? [] : ["out of order: " + nameOf(one)]),
      ...(shown.has(one) ? [] : ["no focus shown: " + nameOf(one)]),
    ]),
  };
  // Moves the focus to the start, so that the next Tab focuses the first element.
  root.tabIndex = -1;
  root.focus();
  root.removeAttribute("tabindex");
})()`;

/** Returns the elements that are animated although the user prefers reduced motion. */
export const findMotion = (page: Page): Promise<string[]> =>
  page.evaluate<string[]>(`[...document.querySelectorAll("*")].flatMap((one) => {
    const { animationName, transitionDuration, scrollBehavior } = getComputedStyle(one);
    const isStill = animationName === "none" && /^0s(, 0s)*$/.test(transitionDuration) &&
      scrollBehavior === "auto";
    return isStill ? [] : [one.outerHTML.slice(0, 200)];
  })`);

/**
 * Doubles the text size for all pages that are opened from now on, like the setting in a browser.
 */
export const doubleText = async (page: Page): Promise<void> => {
  const session = await page.context().newCDPSession(page);
  await session.send("Page.setFontSizes", { fontSizes: { standard: 32, fixed: 26 } });
};

/**
 * Returns words that are cut off or beyond the window's edge. Ignores text that is clipped on
 * purpose.
 */
export const findClippedText = (page: Page): Promise<string[]> =>
  page.evaluate<string[]>(`[...document.querySelectorAll("body *")].flatMap((one) => {
    const text = [...one.childNodes].some(({ nodeType, data }) => nodeType === 3 && data.trim());
    if (!text || !one.checkVisibility({ visibilityProperty: true })) return [];
    for (let room = one; room; room = room.parentElement)
      if (getComputedStyle(room).clipPath !== "none") return [];
    const { overflowX } = getComputedStyle(one);
    const { left, right } = one.getBoundingClientRect();
    const isCut = /hidden|clip/.test(overflowX) && one.scrollWidth > one.clientWidth + 1;
    const isBeyond = right > document.documentElement.clientWidth + 1 || left < -1;
    return isCut || isBeyond ? [one.tagName.toLowerCase() + " " + one.textContent.slice(0, 80)] : [];
  })`);
