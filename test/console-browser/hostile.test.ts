import { expect } from "@jest/globals";
import {
  truncate,
  fillAllFields,
  hostileTexts,
  openView,
  sendRequest,
  listViews,
} from "../rig/hostile-console.ts";
import { measureOverflow } from "../rig/create-console.ts";
import { requireChromium } from "../rig/require-chromium.ts";
import { useConsole } from "../rig/use-console.ts";

const { describe, test } = requireChromium();

const system = useConsole();

describe("a script and a bidi override in every user-supplied field", () => {
  test("are shown as text in every view and confirmation dialog, without overflow", async () => {
    const texts = { script: hostileTexts.script, turned: hostileTexts.turned };
    const user = await system.signUp("mallory", { viewport: { width: 320, height: 640 } });
    const { violations, goTo, tab } = user;
    const dialogMessages: string[] = [];
    tab.page.on("dialog", (dialog) => {
      dialogMessages.push(dialog.message());
      void dialog.dismiss();
    });
    const views = listViews(await fillAllFields(system, user, texts));
    await sendRequest(system, user, "patch", "account", {
      username: truncate(hostileTexts.script, 100),
    });
    for (const path of views) {
      const { sticking } = await openView(user, path);
      expect([path, await measureOverflow(tab), sticking]).toEqual([path, 0, []]);
    }
    await goTo("/keys");
    await tab.click(`Revoke: ${hostileTexts.script}`);
    const heading = tab.page.getByRole("dialog").locator("h2 bdi");
    expect(await heading.textContent()).toBe(hostileTexts.script);
    expect([dialogMessages, violations]).toEqual([[], []]);
  });
});
