import { expect } from "@jest/globals";
import { germanViews } from "../rig/console-german-views.ts";
import { findAxeFaults } from "../rig/find-axe-faults.ts";
import { needingChromium } from "../rig/find-chromium.ts";
import { useConsole } from "../rig/use-console.ts";

const { describe, test } = needingChromium();

const system = useConsole();

describe("every view of an empty account in German", () => {
  test("has no fault of axe", async () => {
    const { goTo, tab } = await system.signUp("gerda", {
      locale: "de-DE",
    });
    for (const [path, shown] of germanViews) {
      await goTo(path);
      await tab.see(shown);
      expect([path, await findAxeFaults(tab.page)]).toEqual([path, []]);
    }
  });
});
