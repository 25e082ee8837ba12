import { request } from "undici";
import { type Chromium, launchChromium } from "../rig/chromium.ts";
import { ensureChromium } from "../rig/ensure-chromium.ts";
import { createWallet } from "../rig/wallet.ts";
import { type Bench, compare, median, takeTurns } from "./harness.ts";
import { startLinkServers } from "./link-servers.ts";
import { createLink } from "./load.ts";
import { pageHeaders } from "./static-pages.ts";

const cpuSlowdown = 4;
const roundCount = 21;
const warmUpRounds = 3;
const usableMsMax = 60_000;

/**
 * Measures how soon a payer can press the checkout's button on a CPU that is throttled to a quarter
 * of its speed. Compares it with a static page with the same text, served by the same process. The
 * result is the time in milliseconds from navigation to the first frame with the enabled button, in
 * a new tab with an empty browser cache. Both pages have the checkout's response headers. The ratio
 * should stay under 1.5.
 */
export const benchCheckoutPage: Bench = async (onEnd) => {
  const program = await ensureChromium();
  if (program === undefined) throw new Error("chromium-headless-shell or chromium is required");
  const { merchant, ours } = await startLinkServers(onEnd);
  const { url } = await createLink(ours.baseUrl, merchant.apiKey, {
    toAmount: "25",
    description: "Order 7",
  });
  const staticUrl = `${ours.baseUrl}/static/page`;
  await storeStaticCopy(url, staticUrl);
  const chromium = await launchChromium(program);
  onEnd(() => chromium.close());
  const variants = {
    ours: () => measureUsable(chromium, ours.baseUrl, url),
    floor: () => measureUsable(chromium, ours.baseUrl, staticUrl),
  };
  const format = (ms: number) => `${ms.toFixed(0)} ms`;
  await takeTurns(warmUpRounds, variants, format);
  const times = await takeTurns(roundCount, variants, format);
  return compare(median(times.ours), median(times.floor), 1);
};

/** Stores a copy of a checkout page without scripts, stylesheets and images, with its button. */
const storeStaticCopy = async (url: string, staticUrl: string): Promise<void> => {
  const response = await request(url);
  const html = await response.body.text();
  const body = html
    .replaceAll(/<script[^>]*><\/script>/g, "")
    .replaceAll(/<(link|img)[^>]*>/g, "")
    .replace(/(<button id="wallet"[^>]*) hidden/, "$1");
  const headers = Object.fromEntries(
    pageHeaders.map((name) => [name, String(response.headers[name])]),
  );
  await (await request(staticUrl, { method: "PUT", headers, body })).body.dump();
};

const measureUsable = async (chromium: Chromium, origin: string, url: string): Promise<number> => {
  const wallet = createWallet({ nodeUrl: "http://127.0.0.1:1", account: "0x1", chainId: "8453" });
  const user = await chromium.createBrowserUser({ origin, wallets: [wallet] });
  const usable = Promise.withResolvers<number>();
  await user.context.exposeFunction("tellUsable", usable.resolve);
  await user.context.addInitScript(watchButtonScript);
  const { page } = await user.openTab();
  const session = await user.context.newCDPSession(page);
  await session.send("Emulation.setCPUThrottlingRate", { rate: cpuSlowdown });
  const timeout = setTimeout(
    () => usable.reject(new Error(`the pay button of ${url} is not usable`)),
    usableMsMax,
  );
  await page.goto(url);
  const ms = await usable.promise.finally(() => clearTimeout(timeout));
  await user.close();
  if (user.violations.length > 0) throw new Error(user.violations.join(", "));
  return ms;
};

// This script runs in the page before the page's own script.
const watchButtonScript = `(() => {
  const isUsable = (button) => /^\\s*Pay /.test(button.textContent) &&
    !button.disabled && button.getClientRects().length > 0;
  const look = () => {
    if ([...document.querySelectorAll("button")].some(isUsable)) tellUsable(performance.now());
    else requestAnimationFrame(look);
  };
  look();
})()`;
