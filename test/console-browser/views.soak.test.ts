import { expect } from "@jest/globals";
import { expectGermanViews } from "../rig/console-german-views.ts";
import { requireChromium } from "../rig/require-chromium.ts";
import { useConsole } from "../rig/use-console.ts";

const { describe, test } = requireChromium();

const system = useConsole();

describe("every view in German", () => {
  test("fits into 320 px and has no axe violations", async () => {
    const { violations } = await expectGermanViews(system, "gerda", { includesEmptyViews: true });
    expect(violations).toEqual([]);
  });
});
