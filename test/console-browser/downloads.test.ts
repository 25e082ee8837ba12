import { useConsole } from "../rig/use-console.ts";
import { expect } from "@jest/globals";
import { findAxeViolations, findLayoutFaults } from "../rig/find-axe-violations.ts";
import { requireChromium } from "../rig/require-chromium.ts";
import { waitUntil } from "@payment-links/runtime/testing";

const { describe, describeSoak, test } = requireChromium();

const system = useConsole();

/** The label of the button that starts a download. */
const downloadButtonName = "Download links (CSV)";

/** Slow enough for the download to take about one minute. */
const slowBytesPerSecond = 200_000;

type ShopUser = Awaited<ReturnType<typeof signUpWithLinks>>;

/**
 * Signs up a user and opens the links view. The account has `copyCount` copies of its first link.
 * Records all downloaded files.
 */
const signUpWithLinks = async (handle: string, copyCount = 0) => {
  const user = await system.signUp(handle, { viewport: { width: 320, height: 640 } });
  const { call, context, goTo, tab } = user;
  await user.addDefaultWallet();
  const newLink = { toAmount: "7", description: 'Tea,\r\n"green"' };
  const { id: linkId } = await call("post", "payment-links", newLink);
  await system.queryLinksDatabase(
    `INSERT INTO links_api.links (
       id, user_id, version, status, to_amount, description, created_at, expires_at, wallet_id,
       destination_address, token_id, chain_id, token_address, payment_reference
     )
     SELECT left(id, 22) || lpad(number::text, 10, '0'), user_id, 1, status, to_amount,
       repeat('x', 400), created_at + number * interval '1 ms', expires_at, wallet_id,
       destination_address, token_id, chain_id, token_address, md5(id || number)
     FROM links_api.links, generate_series(1, $2::int) AS number WHERE id = $1`,
    [linkId, copyCount],
  );
  const files: string[] = [];
  tab.page.on("download", (download) => files.push(download.suggestedFilename()));
  const requestedUrls: string[] = [];
  context.on("request", (request) => {
    if (new URL(request.url()).pathname.endsWith(".csv")) requestedUrls.push(request.url());
  });
  await goTo("/links", "7.00 USDC");
  await tab.click("Export");
  return { ...user, requestedUrls, files, linkId };
};

const throttleNetwork = async ({ context, tab }: ShopUser): Promise<void> => {
  const network = await context.newCDPSession(tab.page);
  const unchangedConditions = { offline: false, latency: 0, uploadThroughput: -1 };
  await network.send("Network.enable");
  await network.send("Network.emulateNetworkConditions", {
    ...unchangedConditions,
    downloadThroughput: slowBytesPerSecond,
  });
};

const downloadFile = async ({ tab }: ShopUser): Promise<string> => {
  const [download] = await Promise.all([
    tab.page.waitForEvent("download"),
    tab.click(downloadButtonName),
  ]);
  const chunks: Buffer[] = [];
  for await (const chunk of await download.createReadStream()) chunks.push(chunk as Buffer);
  return Buffer.concat(chunks).toString();
};

const stopButtonName = `Stop: ${downloadButtonName}`;
const copyCount = 20_000;

describe("a CSV of links", () => {
  test("matches the server's file byte for byte and shows its number of rows", async () => {
    const user = await signUpWithLinks("alma", 1_000);
    const { context, files, tab } = user;
    const response = await context.request.get(
      `${system.origin}/console/api/payment-links.csv?mode=live`,
    );
    expect(await downloadFile(user)).toBe(await response.text());
    await tab.waitForText("Download complete. Rows: 1,001.");
    expect(files).toEqual(["payment-links.csv"]);
    expect(await findAxeViolations(tab.page)).toEqual([]);
    const secondDownload = tab.page.waitForEvent("download");
    await tab.page.getByRole("link", { name: "Save again" }).click();
    expect((await secondDownload).suggestedFilename()).toBe("payment-links.csv");
  });

  test("that is interrupted is rejected with a message, and the next attempt is complete", async () => {
    const user = await signUpWithLinks("cora", 1_000);
    const { files, linkId, tab } = user;
    const setTokenId = (tokenId: string) =>
      system.queryLinksDatabase("UPDATE links_api.links SET token_id = $2 WHERE id = $1", [
        linkId,
        tokenId,
      ]);
    await setTokenId("lost");
    await tab.click(downloadButtonName, "The download was interrupted, so nothing was saved.");
    expect(files).toEqual([]);
    expect(await findAxeViolations(tab.page)).toEqual([]);
    await setTokenId("usdc-base");
    expect((await downloadFile(user)).split("\r\n")).toHaveLength(1_004);
    expect(await tab.readText()).not.toContain("interrupted");
  });
});

describeSoak("a CSV of links", () => {
  test("shows its progress, ignores a second click, and leaves no file when it is canceled", async () => {
    const user = await signUpWithLinks("bela", copyCount);
    const { requestedUrls, files, tab } = user;
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
    expect(await findLayoutFaults(tab.page)).toEqual([]);
    expect(requestedUrls).toHaveLength(1);
    expect(await tab.page.evaluate("document.activeElement.textContent")).toBe("Stop");
    await tab.page.keyboard.press("Enter");
    await tab.waitForText("Stopped. Nothing was saved.");
    await progressBar.waitFor({ state: "detached" });
    expect(await tab.page.evaluate("document.activeElement.textContent")).toBe(downloadButtonName);
    expect(files).toEqual([]);
  });

  test("without its last rows is rejected, even if the network response ended normally", async () => {
    const { context, files, tab } = await signUpWithLinks("dana", 3);
    const truncations = [
      (text: string) => text.split("\r\n").slice(0, 3).join("\r\n").concat("\r\n"),
      (text: string) => text.slice(0, -4),
    ];
    await context.route("**/console/api/payment-links.csv?mode=live", async (route) => {
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
    const { context, files, tab } = await signUpWithLinks("elsa");
    const path = "**/console/api/payment-links.csv?mode=live";
    const headers = { "content-type": "application/json", "retry-after": "10" };
    for (const [status, expectedText] of [
      [429, "Try again in 10 s."],
      [503, "Something went wrong on our side."],
      [200, "Something went wrong on our side."],
    ] as const) {
      await context.route(path, (route) => route.fulfill({ status, headers, body: "{}" }));
      await tab.click(downloadButtonName, expectedText);
      await context.unroute(path);
    }
    await context.setOffline(true);
    await tab.click(downloadButtonName, "We couldn't reach the server.");
    await context.setOffline(false);
    const errors = [{ code: "UNAUTHENTICATED", message: "" }];
    await context.route(path, (route) => route.fulfill({ status: 401, json: { errors } }));
    await tab.click(downloadButtonName, "Sign in to Payment Links");
    expect(files).toEqual([]);
  });

  test("of any size can be downloaded by the browser itself, without a script", async () => {
    const user = await signUpWithLinks("fritz", copyCount);
    const { tab } = user;
    await throttleNetwork(user);
    await tab.click(downloadButtonName);
    await tab.page.getByRole("link", { name: "Large file? Download with the browser" }).waitFor();
    const downloadPromise = tab.page.waitForEvent("download");
    await tab.page.getByRole("link", { name: "Large file? Download with the browser" }).click();
    expect((await downloadPromise).url()).toBe(
      `${system.origin}/console/api/payment-links.csv?mode=live`,
    );
    await tab.waitForText("Downloading…");
  });
});
