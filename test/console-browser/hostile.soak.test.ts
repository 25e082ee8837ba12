import { expect } from "@jest/globals";
import { cut, fill, hostile, look, plain, send, viewsOf } from "../rig/hostile-console.ts";
import { findOverhang } from "../rig/open-console.ts";
import { needingChromium } from "../rig/find-chromium.ts";
import { useConsole } from "../rig/use-console.ts";

const { describe, test } = needingChromium();

const system = useConsole();

describe("hostile text in every field that people fill", () => {
  test("stands as text in every view, turns nothing round, and moves nothing of the page", async () => {
    const bad = await system.signUp("bad");
    const good = await system.signUp("good");
    const made = { bad: await fill(system, bad, hostile), good: await fill(system, good, plain) };
    const asked: string[] = [];
    bad.tab.page.on("dialog", (dialog) => {
      asked.push(dialog.message());
      void dialog.dismiss();
    });
    const names = Object.values(hostile).map((text) => cut(text, 100));
    for (const width of [320, 1280]) {
      for (const person of [bad, good])
        await person.tab.page.setViewportSize({ width, height: 800 });
      const views = { bad: viewsOf(made.bad), good: viewsOf(made.good) };
      for (const [index, path] of views.bad.entries()) {
        const username = names[index % names.length] ?? "";
        await send(system, bad, "patch", "account", { username, bio: cut(hostile.emoji, 500) });
        const seen = await look(bad, path);
        expect([width, path, await findOverhang(bad.tab), seen.sticking]).toEqual([
          width,
          path,
          0,
          [],
        ]);
        const { own } = await look(good, views.good[index] ?? "");
        expect([width, path, seen.own]).toEqual([width, path, own]);
      }
    }
    expect(asked).toEqual([]);
    expect(bad.faults).toEqual([]);
  });

  test("stands as text in what asks before something is done", async () => {
    const bad = await system.signUp("worse", { viewport: { width: 320, height: 640 } });
    const { endpoints } = await fill(system, bad, hostile);
    const { goTo, tab } = bad;
    await goTo("/keys");
    for (const text of Object.values(hostile)) {
      const name = cut(text, 100);
      for (const what of ["Change the limits", "Rotate", "Revoke"]) {
        await tab.page.getByRole("button", { name: `${what}: ${name}`, exact: true }).click();
        const dialog = tab.page.getByRole("dialog");
        expect(await dialog.locator("h2 bdi").textContent()).toBe(name);
        expect(await findOverhang(tab)).toBe(0);
        await dialog.getByRole("button", { name: "Cancel" }).click();
        await dialog.waitFor({ state: "detached" });
      }
    }
    for (const [index, id] of endpoints.entries()) {
      const name = cut(Object.values(hostile)[index] ?? "", 100);
      await goTo(`/webhooks/${id}`);
      await tab.click("Delete");
      const dialog = tab.page.getByRole("dialog");
      expect(await dialog.locator("h2 bdi").textContent()).toBe(name);
      expect(await tab.page.title()).toBe(`\u2068${name}\u2069 · Payment Links`);
      expect(await findOverhang(tab)).toBe(0);
    }
    expect(bad.faults).toEqual([]);
  });
});
