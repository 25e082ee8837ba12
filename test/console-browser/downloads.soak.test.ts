import { expect } from "@jest/globals";
import { waitUntil } from "@payment-links/runtime/testing";
import { signUpWithLinks, throttleNetwork, downloadButtonName } from "../rig/console-downloads.ts";
import { measureOverflow } from "../rig/create-console.ts";
import { findAxeViolations } from "../rig/find-axe-violations.ts";
import { requireChromium } from "../rig/require-chromium.ts";
import { useConsole } from "../rig/use-console.ts";

const { describe, test } = requireChromium();

const system = useConsole();

const stopButtonName = `Stop: ${downloadButtonName}`;
const copyCount = 20_000;

describe("a CSV of links", () => {
  test("shows its progress, ignores a second click, and leaves no file when it is canceled", async () => {
    const user = await signUpWithLinks(system, "bela", copyCount);
    const { requestedUrls, violations, files, tab } = user;
    await throttleNetwork(user);
    await tab.page.getByRole("button", { name: downloadButtonName }).dblclick();
    await tab.waitForText("of 20,001");
    const progressBar = tab.page.getByRole("progressbar", { name: downloadButtonName });
    await waitUntil(
      "the progress bar shows rows",
      async () => Number(await progressBar.getAttribute("value")) > 0,
    );
    expect(await progressBar.getAttribute("max")).toBe(String(copyCount + 1));
    expect(await tab.page.getByRole("status").allInnerTexts()).toContain("Downloading…");
    expect(await findAxeViolations(tab.page)).toEqual([]);
    expect(await measureOverflow(tab)).toBe(0);
    expect(requestedUrls).toHaveLength(1);
    expect(await tab.page.evaluate("document.activeElement.textContent")).toBe("Stop");
    await tab.page.keyboard.press("Enter");
    await tab.waitForText("Stopped. Nothing was saved.");
    await progressBar.waitFor({ state: "detached" });
    expect(await tab.page.evaluate("document.activeElement.textContent")).toBe(downloadButtonName);
    expect(files).toEqual([]);
    expect(violations).toEqual([]);
  });

  test("without its last rows is rejected, even if the network response ended normally", async () => {
    const { context, files, tab } = await signUpWithLinks(system, "dana", 3);
    const truncations = [
      (text: string) => text.split("\r\n").slice(0, 3).join("\r\n").concat("\r\n"),
      (text: string) => text.slice(0, -4),
    ];
    await context.route("**/console/api/payment-links.csv", async (route) => {
      const response = await route.fetch();
      const [truncate = (text: string) => text] = truncations.splice(0, 1);
      await route.fulfill({ response, body: truncate(await response.text()) });
    });
    for (const remainingCount of [1, 0]) {
      await tab.click(downloadButtonName);
      await waitUntil("the response is truncated", () => truncations.length === remainingCount);
      await tab.waitForText("The download was interrupted");
      await tab.page.getByRole("button", { name: stopButtonName }).waitFor({ state: "detached" });
    }
    expect(files).toEqual([]);
  });

  test("that is rejected or gets no response shows the reason", async () => {
    const { context, files, tab } = await signUpWithLinks(system, "elsa");
    const path = "**/console/api/payment-links.csv";
    const headers = { "content-type": "application/json", "retry-after": "10" };
    for (const [status, expectedText] of [
      [429, "Try again in 10 s."],
      [503, "Something went wrong on our side."],
      [200, "Something went wrong on our side."],
    ] as const) {
      await context.route(path, (route) => route.fulfill({ status, headers, body: "{}" }));
      await tab.click(downloadButtonName);
      await tab.waitForText(expectedText);
      await context.unroute(path);
    }
    await context.setOffline(true);
    await tab.click(downloadButtonName);
    await tab.waitForText("We couldn't reach the server.");
    await context.setOffline(false);
    const errors = [{ code: "UNAUTHENTICATED", message: "" }];
    await context.route(path, (route) => route.fulfill({ status: 401, json: { errors } }));
    await tab.click(downloadButtonName);
    await tab.waitForText("You are not signed in.");
    expect(files).toEqual([]);
  });

  test("of any size can be downloaded by the browser itself, without a script", async () => {
    const user = await signUpWithLinks(system, "fritz", copyCount);
    const { tab } = user;
    await throttleNetwork(user);
    await tab.click(downloadButtonName);
    await tab.page.getByRole("link", { name: "Large file? Download with the browser" }).waitFor();
    const downloadPromise = tab.page.waitForEvent("download");
    await tab.page.getByRole("link", { name: "Large file? Download with the browser" }).click();
    expect((await downloadPromise).url()).toBe(`${system.origin}/console/api/payment-links.csv`);
    await tab.waitForText("Downloading…");
  });
});
