import { type Browser, type BrowserContextOptions, type Page, chromium } from "playwright-core";
import { waitUntil } from "@payment-links/runtime/testing";
import { getChromiumUrl } from "./chromium-url.ts";
import { type InstalledWallet, installWallets } from "./wallet.ts";

const stepMsMax = 120_000;

// It asks nobody outside: not for updates, nor for names.
const flags = [
  "--disable-dev-shm-usage",
  "--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE localhost, EXCLUDE 127.0.0.1",
];

type BrowserUserOptions = BrowserContextOptions & {
  /** The one origin that this person's pages may ask for anything. */
  origin: string;
  /** The wallets in this person's browser; the first is also its `window.ethereum`. */
  wallets?: readonly InstalledWallet[];
};

/** How a Chromium without a window is launched, alone or as the server of a test run. */
export const launchOptions = { args: flags, timeout: stepMsMax };

/** Launches a real Chromium. */
export const launchChromium = async (executablePath: string) =>
  wrapBrowser(await chromium.launch({ ...launchOptions, executablePath }));

/** Connects to the Chromium of the test run. Closing it closes only what was opened in it here. */
export const connectChromium = async () =>
  wrapBrowser(await chromium.connect(getChromiumUrl() ?? "", { timeout: stepMsMax }));

/** Each person has storage and wallets of their own. */
const wrapBrowser = (browser: Browser) => ({
  createBrowserUser: async ({ origin, wallets = [], ...options }: BrowserUserOptions) => {
    const context = await browser.newContext(options);
    context.setDefaultTimeout(stepMsMax);
    const violations: string[] = [];
    await context.exposeFunction(
      "tellViolation",
      (violation: string) => void violations.push(violation),
    );
    await context.addInitScript(`document.addEventListener("securitypolicyviolation",
        (event) => window.tellViolation(event.effectiveDirective + " " + event.blockedURI))`);
    context.on("request", (request) => {
      const url = new URL(request.url());
      if (url.protocol !== "data:" && url.origin !== origin) violations.push(`wanted ${url.href}`);
    });
    await installWallets(context, wallets);
    return {
      context,
      openTab: async () => createTab(await context.newPage(), options.javaScriptEnabled),
      /** What the content policy stopped, and what a page wanted of other origins. */
      violations,
      close: () => context.close(),
    };
  },
  close: () => browser.close(),
});
export type Chromium = ReturnType<typeof wrapBrowser>;
export type BrowserUser = Awaited<ReturnType<Chromium["createBrowserUser"]>>;

const pollMsMax = 1_000;

/** Answers a page's text once it has what is wanted, or after a second. Asking again and again from here costs more. */
const waitForTextInPage = (expectedText: string): string => `new Promise((resolve) => {
  const endsAt = performance.now() + ${pollMsMax};
  const look = () => {
    const text = document.body?.innerText ?? "";
    const isOver = text.includes(${JSON.stringify(expectedText)}) || performance.now() > endsAt;
    return isOver ? resolve(text) : setTimeout(look, 50);
  };
  look();
})`;

const createTab = async (page: Page, hasScript = true) => {
  const readText = (): Promise<string> => page.locator("body").innerText();
  return {
    page,
    readText,
    /** Waits until a text stands in the page. */
    waitForText: async (expectedText: string): Promise<void> => {
      let pageText = "";
      // A page whose script is switched off has no timers.
      const readPageText = () =>
        hasScript ? page.evaluate<string>(waitForTextInPage(expectedText)) : readText();
      const hasExpectedText = async () =>
        (pageText = await readPageText().catch(String)).includes(expectedText);
      await waitUntil(() => `${expectedText} in: ${pageText}`, hasExpectedText);
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
export type Tab = Awaited<ReturnType<typeof createTab>>;
