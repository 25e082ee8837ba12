import { expect } from "@jest/globals";
import { cut, fill, hostile, look, send, viewsOf } from "../rig/hostile-console.ts";
import { findOverhang } from "../rig/open-console.ts";
import { needingChromium } from "../rig/find-chromium.ts";
import { useConsole } from "../rig/use-console.ts";

const { describe, test } = needingChromium();

const system = useConsole();

describe("a script and a text that is turned round, in every field that people fill", () => {
  test("stand as text in every view and in what asks first, and nothing sticks out", async () => {
    const texts = { script: hostile.script, turned: hostile.turned };
    const person = await system.signUp("mallory", { viewport: { width: 320, height: 640 } });
    const { faults, goTo, tab } = person;
    const asked: string[] = [];
    tab.page.on("dialog", (dialog) => {
      asked.push(dialog.message());
      void dialog.dismiss();
    });
    const views = viewsOf(await fill(system, person, texts));
    await send(system, person, "patch", "account", { username: cut(hostile.script, 100) });
    for (const path of views) {
      const { sticking } = await look(person, path);
      expect([path, await findOverhang(tab), sticking]).toEqual([path, 0, []]);
    }
    await goTo("/keys");
    await tab.click(`Revoke: ${hostile.script}`);
    const heading = tab.page.getByRole("dialog").locator("h2 bdi");
    expect(await heading.textContent()).toBe(hostile.script);
    expect([asked, faults]).toEqual([[], []]);
  });
});
