import { type Server, createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { afterAll, beforeAll, expect } from "@jest/globals";
import { buildOwnerImagePath } from "@payment-links/contracts";
import { waitUntil } from "@payment-links/runtime/testing";
import { startAllInOneSystem } from "./rig/all-in-one-system.ts";
import { type Chromium, connectChromium } from "./rig/chromium.ts";
import { type Merchant, call, createMerchant } from "./rig/client.ts";
import { requireChromium } from "./rig/require-chromium.ts";

const { describe, test } = requireChromium();

/** One red pixel. */
const png = Buffer.from(
  "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mP8z8DwHwAFBQIAX8jx0gAAAABJRU5ErkJggg==",
  "base64",
);

let imageHost: Server;
let imageRequests: string[];
let system: Awaited<ReturnType<typeof startAllInOneSystem>>;
let chromium: Chromium;
let origin: string;
let shop: Merchant;

beforeAll(async () => {
  imageRequests = [];
  imageHost = createServer((req, res) => {
    imageRequests.push(`${req.url} ${req.headers["user-agent"]}`);
    if (req.url === "/logo.png") res.end(png);
    else res.writeHead(404).end();
  });
  await new Promise<void>((resolve) => imageHost.listen(0, "127.0.0.1", resolve));
  const { port } = imageHost.address() as AddressInfo;
  system = await startAllInOneSystem({
    WEBHOOK_HOST_OVERRIDES: `images.test=http://127.0.0.1:${port}`,
  });
  origin = system.baseUrl.replace("127.0.0.1", "localhost");
  chromium = await connectChromium();
  shop = await createMerchant(system, "shop");
});
afterAll(async () => {
  await chromium?.close();
  await system?.close();
  imageHost?.close();
});

const setImages = async (images: { profileImage: string; backgroundImage: string }) => {
  const headers = { cookie: shop.cookie };
  const url = `${system.baseUrl}/console/api/account`;
  const { status } = await call(url, { method: "PATCH", headers, body: images });
  expect(status).toBe(200);
};

const createLink = async (): Promise<string> => {
  const created = await call(`${system.baseUrl}/v1/payment-link`, {
    method: "POST",
    headers: { "x-api-key": shop.apiKey },
    body: { toAmount: "25" },
  });
  return `${origin}/@${shop.handle}/pay/${String(created.body["id"])}`;
};

describe("a payer's Chromium", () => {
  test("shows the owner's image, loads it only from us, and tolerates a missing one", async () => {
    const profileImage = "https://images.test/logo.png";
    const backgroundImage = "https://images.test/gone.png";
    await setImages({ profileImage, backgroundImage });
    const logoUrl = `${system.baseUrl}${buildOwnerImagePath(shop.userId, profileImage)}`;
    const isImageAvailable = async () => (await call(logoUrl)).status === 200;
    await waitUntil("webhook-dispatcher serves the image", isImageAvailable);

    const { openTab, violations } = await chromium.createBrowserUser({ origin });
    const { page, ...tab } = await openTab();
    await tab.goTo(await createLink(), "25 USDC");
    const areImagesLoaded = async () =>
      (await page.evaluate(`[...document.images].every(({ complete }) => complete)`)) === true;
    await waitUntil("the images have loaded or failed", areImagesLoaded);
    const resourceCount = await page.evaluate(`performance.getEntriesByType("resource").length`);
    expect(resourceCount).toBeGreaterThan(2);
    expect(violations).toEqual([]);
    const imageWidths = await page.evaluate(
      `Object.fromEntries([...document.images].map((image) => [image.className, image.naturalWidth]))`,
    );
    expect(imageWidths).toMatchObject({ portrait: 1, banner: 0 });
    expect(imageRequests.toSorted()).toEqual([
      "/gone.png PaymentLinks-Images/1.0",
      "/logo.png PaymentLinks-Images/1.0",
    ]);
  });

  test("loads no image from elsewhere on our pages", async () => {
    const { openTab, violations } = await chromium.createBrowserUser({ origin });
    const { page, ...tab } = await openTab();
    await tab.goTo(await createLink(), "25 USDC");
    await page.evaluate(`new Promise((onerror) =>
      document.body.append(Object.assign(new Image(), { onerror, src: "https://tracker.test/a.png" })))`);
    const isImageBlocked = () => violations.includes("img-src https://tracker.test/a.png");
    await waitUntil("the content security policy blocks the image", isImageBlocked);
  });
});
