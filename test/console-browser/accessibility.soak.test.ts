import {
  filledViews,
  expectReadableAtDoubleSize,
  expectKeyboardReach,
  expectNoMotion,
} from "../rig/console-accessibility.ts";
import { requireChromium } from "../rig/require-chromium.ts";
import { useConsole } from "../rig/use-console.ts";

const { describe, test } = requireChromium();

const system = useConsole();

describe("a user without a mouse", () => {
  test("reaches everything in each view in order, with a visible focus", () =>
    expectKeyboardReach(system, "adele", filledViews));
});

describe("a user with low vision", () => {
  test("can read each whole view at twice the text size", () =>
    expectReadableAtDoubleSize(system, "dot", filledViews));
});

describe("a user who prefers reduced motion", () => {
  test("sees no animation", () => expectNoMotion(system, "edie", filledViews));
});
