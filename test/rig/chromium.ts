import { type Browser, type BrowserContextOptions, type Page, chromium } from "playwright-core";
import { waitUntil } from "@payment-links/runtime/testing";
import { chromiumUrl } from "./chromium-url.ts";
import { type GivenWallet, giveWallets } from "./wallet.ts";

const stepMsMax = 120_000;

// It asks nobody outside: not for updates, nor for names.
const flags = [
  "--disable-dev-shm-usage",
  "--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE localhost, EXCLUDE 127.0.0.1",
];

type PersonOptions = BrowserContextOptions & {
  /** The one origin that this person's pages may ask for anything. */
  origin: string;
  /** The wallets in this person's browser; the first is also its `window.ethereum`. */
  wallets?: readonly GivenWallet[];
};

/** How a Chromium without a window is launched, alone or as the server of a test run. */
export const launchOptions = { args: flags, timeout: stepMsMax };

/** Launches a real Chromium. */
export const openChromium = async (executablePath: string) =>
  openBrowser(await chromium.launch({ ...launchOptions, executablePath }));

/** Connects to the Chromium of the test run. Closing it closes only what was opened in it here. */
export const connectChromium = async () =>
  openBrowser(await chromium.connect(chromiumUrl() ?? "", { timeout: stepMsMax }));

/** Each person has storage and wallets of their own. */
const openBrowser = (browser: Browser) => ({
  openPerson: async ({ origin, wallets = [], ...options }: PersonOptions) => {
    const context = await browser.newContext(options);
    context.setDefaultTimeout(stepMsMax);
    const faults: string[] = [];
    await context.exposeFunction("tellViolation", (fault: string) => void faults.push(fault));
    await context.addInitScript(`document.addEventListener("securitypolicyviolation",
        (event) => window.tellViolation(event.effectiveDirective + " " + event.blockedURI))`);
    context.on("request", (request) => {
      const url = new URL(request.url());
      if (url.protocol !== "data:" && url.origin !== origin) faults.push(`wanted ${url.href}`);
    });
    await giveWallets(context, wallets);
    return {
      context,
      openTab: async () => openTab(await context.newPage(), options.javaScriptEnabled),
      /** What the content policy stopped, and what a page wanted of other origins. */
      faults,
      close: () => context.close(),
    };
  },
  close: () => browser.close(),
});
export type Chromium = ReturnType<typeof openBrowser>;
export type Person = Awaited<ReturnType<Chromium["openPerson"]>>;

const lookMsMax = 1_000;

/** Answers a page's text once it has what is wanted, or after a second. Asking again and again from here costs more. */
const waitInPage = (wanted: string): string => `new Promise((resolve) => {
  const endsAt = performance.now() + ${lookMsMax};
  const look = () => {
    const text = document.body?.innerText ?? "";
    const isOver = text.includes(${JSON.stringify(wanted)}) || performance.now() > endsAt;
    return isOver ? resolve(text) : setTimeout(look, 50);
  };
  look();
})`;

const openTab = async (page: Page, hasScript = true) => {
  const text = (): Promise<string> => page.locator("body").innerText();
  return {
    page,
    text,
    /** Waits until a text stands in the page. */
    see: async (wanted: string): Promise<void> => {
      let shown = "";
      // A page whose script is switched off has no timers.
      const read = () => (hasScript ? page.evaluate<string>(waitInPage(wanted)) : text());
      const look = async () => (shown = await read().catch(String)).includes(wanted);
      await waitUntil(() => `${wanted} in: ${shown}`, look);
    },
    goTo: (url: string): Promise<unknown> => page.goto(url),
    /** Clicks the first button of that name, once it can be clicked. */
    click: (name: string): Promise<void> =>
      page.getByRole("button", { name, exact: true }).first().click(),
    /** Types into the first field of the form with that button. */
    type: (name: string, value: string): Promise<void> =>
      page
        .locator("form")
        .filter({ has: page.getByRole("button", { name, exact: true }) })
        .first()
        .locator("input")
        .first()
        .fill(value),
  };
};
export type Tab = Awaited<ReturnType<typeof openTab>>;
