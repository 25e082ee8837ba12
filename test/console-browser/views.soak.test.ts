import { expect } from "@jest/globals";
import { walkGermanViews } from "../rig/console-german-views.ts";
import { needingChromium } from "../rig/find-chromium.ts";
import { useConsole } from "../rig/use-console.ts";

const { describe, test } = needingChromium();

const system = useConsole();

describe("every view in German", () => {
  test("fits into 320 px, and has no fault of axe", async () => {
    const { faults } = await walkGermanViews(system, "gerda", { isWhole: true });
    expect(faults).toEqual([]);
  });
});
