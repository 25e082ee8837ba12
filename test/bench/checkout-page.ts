import { request } from "undici";
import { ensureChromium } from "../rig/ensure-chromium.ts";
import { type Chromium, launchChromium } from "../rig/chromium.ts";
import { call } from "../rig/client.ts";
import { createWallet } from "../rig/wallet.ts";
import { median } from "./load.ts";
import type { BenchResult } from "./rounds.ts";
import type { BenchSetup } from "./bench-setup.ts";
import { pageHeaders } from "./static-pages.ts";

const cpuSlowdown = 4;
const roundCount = 21;
const warmUpRounds = 3;
const usableMsMax = 60_000;

/**
 * Measures how soon a payer can press the checkout's button on a CPU that is throttled to a quarter
 * of its speed. Compares it with a static page with the same text, served by the same process. The
 * result is the time in milliseconds from navigation to the first frame with the enabled button, in
 * a new tab with an empty browser cache. `styled` is the static page with its stylesheet. All pages
 * have the checkout's response headers. The ratio should stay under 1.5.
 */
export const benchCheckoutPage = async (setup: BenchSetup): Promise<BenchResult> => {
  const program = await ensureChromium();
  if (program === undefined) throw new Error("chromium-headless-shell or chromium is required");
  const { baseUrl } = setup.ours;
  const pageUrls = await makePages(setup);
  const timesByPage = pageUrls.map((): number[] => []);
  const chromium = await launchChromium(program);
  try {
    for (let round = -warmUpRounds; round < roundCount; round += 1) {
      for (const [index, url] of pageUrls.entries()) {
        const ms = await measureUsable(chromium, { origin: baseUrl, url });
        if (round >= 0) timesByPage[index]?.push(ms);
      }
      if (round < 0) continue;
      const [ours, styled, floor] = timesByPage.map((list) => list.at(-1)?.toFixed(0));
      process.stdout.write(
        `round ${round + 1}: ours ${ours} ms, styled ${styled} ms, floor ${floor} ms\n`,
      );
    }
  } finally {
    await chromium.close();
  }
  const [ours = 0, styled = 0, floor = 0] = timesByPage.map((list) =>
    Number(median(list).toFixed(1)),
  );
  const computeRatio = (numerator: number, denominator: number) =>
    Number((numerator / denominator).toFixed(3));
  return {
    ours,
    floor,
    ratio: computeRatio(ours, floor),
    styled,
    ratioToStyled: computeRatio(ours, styled),
  };
};

/**
 * Creates a link, and static copies of its checkout page with and without the stylesheet. Returns
 * the URLs.
 */
const makePages = async ({ ours: { baseUrl }, merchant }: BenchSetup): Promise<string[]> => {
  const createdLink = await call(`${baseUrl}/v1/payment-link`, {
    method: "POST",
    headers: { "x-api-key": merchant.apiKey },
    body: { toAmount: "25", description: "Order 7" },
  });
  const url = String(createdLink.body["url"]);
  const response = await request(url);
  const html = await response.body.text();
  const headers = Object.fromEntries(
    pageHeaders.map((name) => [name, String(response.headers[name])]),
  );
  const styled = html
    .replaceAll(/<script[^>]*><\/script>/g, "")
    .replace(/(<button id="wallet"[^>]*) hidden/, "$1");
  const bare = styled.replaceAll(/<(link|img)[^>]*>/g, "");
  const staticPages = Object.entries({ styled, bare });
  for (const [name, body] of staticPages) {
    await (
      await request(`${baseUrl}/static/${name}`, { method: "PUT", headers, body })
    ).body.dump();
  }
  return [url, ...staticPages.map(([name]) => `${baseUrl}/static/${name}`)];
};

type Visit = { origin: string; url: string };

const measureUsable = async (chromium: Chromium, { origin, url }: Visit): Promise<number> => {
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
