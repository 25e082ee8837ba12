import { expect } from "@jest/globals";
import { waitUntil } from "@payment-links/runtime/testing";
import { signUpShop, slowDown, start } from "../rig/console-downloads.ts";
import { findOverhang } from "../rig/open-console.ts";
import { findAxeFaults } from "../rig/find-axe-faults.ts";
import { needingChromium } from "../rig/find-chromium.ts";
import { useConsole } from "../rig/use-console.ts";

const { describe, test } = needingChromium();

const system = useConsole();

const stop = `Stop: ${start}`;
const copyCount = 20_000;

describe("a CSV of links", () => {
  test("shows how far it is, takes one of two clicks, and leaves nothing where it is stopped", async () => {
    const person = await signUpShop(system, "bela", copyCount);
    const { asked, faults, files, tab } = person;
    await slowDown(person);
    await tab.page.getByRole("button", { name: start }).dblclick();
    await tab.see("of 20,001");
    const bar = tab.page.getByRole("progressbar", { name: start });
    await waitUntil("rows", async () => Number(await bar.getAttribute("value")) > 0);
    expect(await bar.getAttribute("max")).toBe(String(copyCount + 1));
    expect(await tab.page.getByRole("status").allInnerTexts()).toContain("Downloading…");
    expect(await findAxeFaults(tab.page)).toEqual([]);
    expect(await findOverhang(tab)).toBe(0);
    expect(asked).toHaveLength(1);
    expect(await tab.page.evaluate("document.activeElement.textContent")).toBe("Stop");
    await tab.page.keyboard.press("Enter");
    await tab.see("Stopped. Nothing was saved.");
    await bar.waitFor({ state: "detached" });
    expect(await tab.page.evaluate("document.activeElement.textContent")).toBe(start);
    expect(files).toEqual([]);
    expect(faults).toEqual([]);
  });

  test("without its last rows is none, though what stands between ended it in order", async () => {
    const { context, files, tab } = await signUpShop(system, "dana", 3);
    const answers = [
      (text: string) => text.split("\r\n").slice(0, 3).join("\r\n").concat("\r\n"),
      (text: string) => text.slice(0, -4),
    ];
    await context.route("**/console/api/payment-links.csv", async (route) => {
      const response = await route.fetch();
      const [cut = (text: string) => text] = answers.splice(0, 1);
      await route.fulfill({ response, body: cut(await response.text()) });
    });
    for (const left of [1, 0]) {
      await tab.click(start);
      await waitUntil("the answer", () => answers.length === left);
      await tab.see("The file broke off before its end");
      await tab.page.getByRole("button", { name: stop }).waitFor({ state: "detached" });
    }
    expect(files).toEqual([]);
  });

  test("that is refused, or not answered, says why", async () => {
    const { context, files, tab } = await signUpShop(system, "elsa");
    const path = "**/console/api/payment-links.csv";
    const headers = { "content-type": "application/json", "retry-after": "10" };
    for (const [status, words] of [
      [429, "Please try again in 10 s."],
      [503, "Something failed on the server's side."],
      [200, "Something failed on the server's side."],
    ] as const) {
      await context.route(path, (route) => route.fulfill({ status, headers, body: "{}" }));
      await tab.click(start);
      await tab.see(words);
      await context.unroute(path);
    }
    await context.setOffline(true);
    await tab.click(start);
    await tab.see("The server cannot be reached.");
    await context.setOffline(false);
    const errors = [{ code: "UNAUTHENTICATED", message: "" }];
    await context.route(path, (route) => route.fulfill({ status: 401, json: { errors } }));
    await tab.click(start);
    await tab.see("You are not signed in.");
    expect(files).toEqual([]);
  });

  test("of any size can be left to the browser, which needs no script for it", async () => {
    const person = await signUpShop(system, "fritz", copyCount);
    const { tab } = person;
    await slowDown(person);
    await tab.click(start);
    await tab.page.getByRole("link", { name: "Leave it to the browser" }).waitFor();
    const waiting = tab.page.waitForEvent("download");
    await tab.page.getByRole("link", { name: "Leave it to the browser" }).click();
    expect((await waiting).url()).toBe(`${system.origin}/console/api/payment-links.csv`);
    await tab.see("Downloading…");
  });
});
