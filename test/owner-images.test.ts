import { type Server, createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { afterAll, beforeAll, expect } from "@jest/globals";
import { ownerImagePath } from "@payment-links/contracts";
import { waitUntil } from "@payment-links/runtime/testing";
import { openAllInOneSystem } from "./rig/all-in-one-system.ts";
import { type Chromium, connectChromium } from "./rig/chromium.ts";
import { type Merchant, call, openMerchant } from "./rig/client.ts";
import { needingChromium } from "./rig/find-chromium.ts";

const { describe, test } = needingChromium();

/** One red pixel. */
const png = Buffer.from(
  "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mP8z8DwHwAFBQIAX8jx0gAAAABJRU5ErkJggg==",
  "base64",
);

let host: Server;
let asked: string[];
let system: Awaited<ReturnType<typeof openAllInOneSystem>>;
let chromium: Chromium;
let origin: string;
let shop: Merchant;

beforeAll(async () => {
  asked = [];
  host = createServer((req, res) => {
    asked.push(`${req.url} ${req.headers["user-agent"]}`);
    if (req.url === "/logo.png") res.end(png);
    else res.writeHead(404).end();
  });
  await new Promise<void>((resolve) => host.listen(0, "127.0.0.1", resolve));
  const { port } = host.address() as AddressInfo;
  system = await openAllInOneSystem({
    WEBHOOK_HOST_OVERRIDES: `images.test=http://127.0.0.1:${port}`,
  });
  origin = system.baseUrl.replace("127.0.0.1", "localhost");
  chromium = await connectChromium();
  shop = await openMerchant(system, "shop");
});
afterAll(async () => {
  await chromium?.close();
  await system?.close();
  host?.close();
});

const setImages = async (images: { profileImage: string; backgroundImage: string }) => {
  const headers = { cookie: shop.cookie };
  const url = `${system.baseUrl}/console/api/account`;
  const { status } = await call(url, { method: "PATCH", headers, body: images });
  expect(status).toBe(200);
};

const makeLink = async (): Promise<string> => {
  const made = await call(`${system.baseUrl}/v1/payment-link`, {
    method: "POST",
    headers: { "x-api-key": shop.apiKey },
    body: { toAmount: "25" },
  });
  return `${origin}/@${shop.handle}/pay/${String(made.body["id"])}`;
};

describe("a payer's Chromium", () => {
  test("shows the owner's image, asks nobody but us for it, and stands where one is missing", async () => {
    const profileImage = "https://images.test/logo.png";
    const backgroundImage = "https://images.test/gone.png";
    await setImages({ profileImage, backgroundImage });
    const logo = `${system.baseUrl}${ownerImagePath(shop.userId, profileImage)}`;
    const isHad = async () => (await call(logo)).status === 200;
    await waitUntil("webhook-dispatcher has heard of it", isHad);

    const { openTab, faults } = await chromium.openPerson({ origin });
    const { page, ...tab } = await openTab();
    await tab.goTo(await makeLink());
    await tab.see("This payment link is open.");
    const isLoaded = async () =>
      (await page.evaluate(`[...document.images].every(({ complete }) => complete)`)) === true;
    await waitUntil("its images have loaded, or not", isLoaded);
    const asks = await page.evaluate(`performance.getEntriesByType("resource").length`);
    expect(asks).toBeGreaterThan(2);
    expect(faults).toEqual([]);
    const widths = await page.evaluate(
      `Object.fromEntries([...document.images].map((image) => [image.className, image.naturalWidth]))`,
    );
    expect(widths).toMatchObject({ portrait: 1, banner: 0 });
    expect(asked.toSorted()).toEqual([
      "/gone.png PaymentLinks-Images/1.0",
      "/logo.png PaymentLinks-Images/1.0",
    ]);
  });

  test("lets no page of ours load an image from elsewhere", async () => {
    const { openTab, faults } = await chromium.openPerson({ origin });
    const { page, ...tab } = await openTab();
    await tab.goTo(await makeLink());
    await tab.see("This payment link is open.");
    await page.evaluate(`new Promise((onerror) =>
      document.body.append(Object.assign(new Image(), { onerror, src: "https://tracker.test/a.png" })))`);
    const isStopped = () => faults.includes("img-src https://tracker.test/a.png");
    await waitUntil("the policy's word", isStopped);
  });
});
