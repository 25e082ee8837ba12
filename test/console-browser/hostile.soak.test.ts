import { expect } from "@jest/globals";
import {
  truncate,
  fillAllFields,
  hostileTexts,
  openView,
  plainTexts,
  sendRequest,
  listViews,
} from "../rig/hostile-console.ts";
import { measureOverflow } from "../rig/create-console.ts";
import { requireChromium } from "../rig/require-chromium.ts";
import { useConsole } from "../rig/use-console.ts";

const { describe, test } = requireChromium();

const system = useConsole();

describe("hostile text in every user-supplied field", () => {
  test("is shown as text in every view, without reversing other text or changing the layout", async () => {
    const hostileUser = await system.signUp("bad");
    const plainUser = await system.signUp("good");
    const created = {
      bad: await fillAllFields(system, hostileUser, hostileTexts),
      good: await fillAllFields(system, plainUser, plainTexts),
    };
    const dialogMessages: string[] = [];
    hostileUser.tab.page.on("dialog", (dialog) => {
      dialogMessages.push(dialog.message());
      void dialog.dismiss();
    });
    const truncatedNames = Object.values(hostileTexts).map((text) => truncate(text, 100));
    for (const width of [320, 1280]) {
      for (const user of [hostileUser, plainUser])
        await user.tab.page.setViewportSize({ width, height: 800 });
      const views = { bad: listViews(created.bad), good: listViews(created.good) };
      for (const [index, path] of views.bad.entries()) {
        const username = truncatedNames[index % truncatedNames.length] ?? "";
        await sendRequest(system, hostileUser, "patch", "account", {
          username,
          bio: truncate(hostileTexts.emoji, 500),
        });
        const hostileLayout = await openView(hostileUser, path);
        expect([
          width,
          path,
          await measureOverflow(hostileUser.tab),
          hostileLayout.sticking,
        ]).toEqual([width, path, 0, []]);
        const { own } = await openView(plainUser, views.good[index] ?? "");
        expect([width, path, hostileLayout.own]).toEqual([width, path, own]);
      }
    }
    expect(dialogMessages).toEqual([]);
    expect(hostileUser.violations).toEqual([]);
  });

  test("is shown as text in confirmation dialogs", async () => {
    const hostileUser = await system.signUp("worse", { viewport: { width: 320, height: 640 } });
    const { endpoints } = await fillAllFields(system, hostileUser, hostileTexts);
    const { goTo, tab } = hostileUser;
    await goTo("/keys");
    for (const text of Object.values(hostileTexts)) {
      const name = truncate(text, 100);
      for (const action of ["Edit limits", "Rotate", "Revoke"]) {
        await tab.page.getByRole("button", { name: `${action}: ${name}`, exact: true }).click();
        const dialog = tab.page.getByRole("dialog");
        expect(await dialog.locator("h2 bdi").textContent()).toBe(name);
        expect(await measureOverflow(tab)).toBe(0);
        await dialog.getByRole("button", { name: "Cancel" }).click();
        await dialog.waitFor({ state: "detached" });
      }
    }
    for (const [index, id] of endpoints.entries()) {
      const name = truncate(Object.values(hostileTexts)[index] ?? "", 100);
      await goTo(`/webhooks/${id}`);
      await tab.click("Delete");
      const dialog = tab.page.getByRole("dialog");
      expect(await dialog.locator("h2 bdi").textContent()).toBe(name);
      expect(await tab.page.title()).toBe(`\u2068${name}\u2069 · Payment Links`);
      expect(await measureOverflow(tab)).toBe(0);
    }
    expect(hostileUser.violations).toEqual([]);
  });
});
