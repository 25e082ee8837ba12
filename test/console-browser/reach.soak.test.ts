import { filledViews, readLargeViews, walkViews, watchStillViews } from "../rig/console-reach.ts";
import { needingChromium } from "../rig/find-chromium.ts";
import { useConsole } from "../rig/use-console.ts";

const { describe, test } = needingChromium();

const system = useConsole();

describe("a person without a mouse", () => {
  test("reaches everything of each view in its order, and sees where they are", () =>
    walkViews(system, "adele", filledViews));
});

describe("a person who sees little", () => {
  test("reads all of each view at twice the size of its text", () =>
    readLargeViews(system, "dot", filledViews));
});

describe("a person who wants less motion", () => {
  test("sees nothing move", () => watchStillViews(system, "edie", filledViews));
});
