import { expect } from "@jest/globals";
import { waitUntil } from "@payment-links/runtime/testing";
import { requireChromium } from "../rig/require-chromium.ts";
import { useConsole } from "../rig/use-console.ts";

const { describe, test } = requireChromium();

const system = useConsole();

/** What Google calls a good user experience is 0.1 (https://web.dev/articles/cls). */
const layoutShiftMax = 0.02;

const observeShifts = `
  window.layoutShift = 0;
  new PerformanceObserver((list) => {
    for (const { value } of list.getEntries()) window.layoutShift += value;
  }).observe({ type: "layout-shift", buffered: true });`;

/** Each view with a text of its data. */
const views: [string, string][] = [
  ["", "Received"],
  ["/links", "Order 7"],
  ["/links/new", "Preview"],
  ["/keys", "till key"],
  ["/webhooks", "till hook"],
  ["/developers", "Check a signature"],
  ["/deposits", "Transfers without a link will appear here."],
  ["/account/wallets", "Default on Base"],
  ["/account/sign-in", "No linked accounts"],
  ["/account/sessions", "This device"],
  ["/account/notifications", "This installation does not send email."],
  ["/account/log", "Sign-in link created"],
];

const signUpShop = async (handle: string, width: number) => {
  const user = await system.signUp(handle, { viewport: { width, height: 844 } });
  await user.addDefaultWallet();
  // Services can use cached account data for this long.
  system.clock.advance(60_000);
  const newLink = { toAmount: "12.5", description: "Order 7" };
  const link = await user.call("post", "payment-links", newLink);
  await user.call("post", "api-keys", { name: "till key", scopes: ["payment_link:read"] });
  const newEndpoint = { name: "till hook", url: "https://till.com/a" };
  const endpoint = await user.call("post", "webhook-endpoints", newEndpoint);
  await user.context.addInitScript(observeShifts);
  const detailViews: typeof views = [
    [`/links/${link.id}`, "Link created"],
    [`/webhooks/${endpoint.id}`, "Deliveries will appear here."],
  ];
  return { ...user, detailViews };
};

describe("a view whose data arrives one response after the other, the last request first", () => {
  test.each([1280, 390])("moves nothing that is already shown, at %i px", async (width) => {
    const { context, detailViews, goTo, tab } = await signUpShop(`shift_${width}`, width);
    const { page } = tab;
    const heldRequests: (() => Promise<void>)[] = [];
    await context.route("**/console/api/**", (route) => {
      // Without the session there is no view.
      if (route.request().url().endsWith("/session")) return route.continue();
      return void heldRequests.push(() => route.continue());
    });
    for (const [path, expectedText] of [...views, ...detailViews]) {
      await goTo(path);
      await waitUntil(`${path} requests its data`, () => heldRequests.length > 0);
      await waitUntil(`${path} shows its data`, async () => {
        await tab.waitForFrame();
        await heldRequests.pop()?.();
        await tab.waitForFrame();
        const text = await tab.readText();
        const isLoaded = text.includes(expectedText) && !text.includes("Loading…");
        return isLoaded && heldRequests.length === 0;
      });
      const layoutShift = Number(await page.evaluate("window.layoutShift"));
      expect([path, layoutShift <= layoutShiftMax, layoutShift]).toEqual([path, true, layoutShift]);
    }
  });
});
