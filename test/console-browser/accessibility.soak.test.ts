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

describe("a person without a mouse", () => {
  test("reaches everything of each view in its order, and sees where they are", () =>
    expectKeyboardReach(system, "adele", filledViews));
});

describe("a person who sees little", () => {
  test("reads all of each view at twice the size of its text", () =>
    expectReadableAtDoubleSize(system, "dot", filledViews));
});

describe("a person who wants less motion", () => {
  test("sees nothing move", () => expectNoMotion(system, "edie", filledViews));
});
