import { type Browser, type BrowserContextOptions, type Page, chromium } from "playwright-core";
import { waitUntil } from "@payment-links/runtime/testing";
import { getChromiumUrl } from "./chromium-url.ts";
import { type InstalledWallet, installWallets } from "./wallet.ts";

const stepMsMax = 120_000;

// The browser cannot reach external hosts, not even for updates or DNS.
const flags = [
  "--disable-dev-shm-usage",
  "--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE localhost, EXCLUDE 127.0.0.1",
];

type BrowserUserOptions = BrowserContextOptions & {
  /** The only origin to which this user's pages are allowed to send requests. */
  origin: string;
  /** The wallets in this user's browser. The first wallet is also `window.ethereum`. */
  wallets?: readonly InstalledWallet[];
};

/** Options for a headless Chromium, which is launched alone or as the server of a test run. */
export const launchOptions = { args: flags, timeout: stepMsMax };

export const launchChromium = async (executablePath: string) =>
  wrapBrowser(await chromium.launch({ ...launchOptions, executablePath }));

/**
 * Connects to the Chromium of the test run. Closing the connection only closes the pages that it
 * has opened.
 */
export const connectChromium = async () =>
  wrapBrowser(await chromium.connect(getChromiumUrl() ?? "", { timeout: stepMsMax }));

/** Each user has separate storage and wallets. */
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
    await context.addInitScript(recordCopiedTextScript);
    context.on("request", (request) => {
      const url = new URL(request.url());
      if (url.protocol !== "data:" && url.origin !== origin) violations.push(`wanted ${url.href}`);
    });
    await installWallets(context, wallets);
    return {
      context,
      openTab: async () => createTab(await context.newPage(), options.javaScriptEnabled),
      /** The violations of the content security policy, and the requests to other origins. */
      violations,
      close: async () => {
        // A mocked request can still be on its way. Without this, its failure would fail another test.
        await context.unrouteAll({ behavior: "ignoreErrors" });
        await context.close();
      },
    };
  },
  close: () => browser.close(),
});
export type Chromium = ReturnType<typeof wrapBrowser>;
export type BrowserUser = Awaited<ReturnType<Chromium["createBrowserUser"]>>;

/**
 * Records what a page has copied. All pages of the browser share one clipboard, so what it contains
 * can come from another test.
 */
const recordCopiedTextScript = `if (navigator.clipboard !== undefined) {
  const writeText = navigator.clipboard.writeText.bind(navigator.clipboard);
  navigator.clipboard.writeText = async (text) => {
    await writeText(text);
    window.copiedText = text;
  };
}`;

const waitForFrameScript = `new Promise((resolve) =>
  requestAnimationFrame(() => requestAnimationFrame(() => resolve())))`;

const pollMsMax = 1_000;

/**
 * Resolves with the page's text once it contains `expectedText`, or after 1 second. Polling inside
 * the page is cheaper than polling from the test.
 */
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
  /** Waits until the page contains a text. */
  const waitForText = async (expectedText: string): Promise<void> => {
    let pageText = "";
    // A page with JavaScript disabled has no timers.
    const readPageText = () =>
      hasScript ? page.evaluate<string>(waitForTextInPage(expectedText)) : readText();
    const hasExpectedText = async () =>
      (pageText = await readPageText().catch(String)).includes(expectedText);
    await waitUntil(() => `the page shows ${expectedText}; it shows: ${pageText}`, hasExpectedText);
  };
  return {
    page,
    readText,
    waitForText,
    /** Waits until the page has copied a text to the clipboard. */
    waitForCopiedText: async (expectedText: string): Promise<void> => {
      let copiedText = "";
      const hasExpectedText = async () =>
        (copiedText = String(await page.evaluate("window.copiedText"))) === expectedText;
      await waitUntil(() => `${expectedText} is copied; copied: ${copiedText}`, hasExpectedText);
    },
    /** Stops the page's clock, so that what it shows for some seconds stays. */
    stopClock: async (): Promise<void> => {
      await page.clock.install({ time: 0 });
      await page.clock.pauseAt(1_000);
    },
    /** Resolves after the page has rendered a frame. */
    waitForFrame: (): Promise<void> => page.evaluate(waitForFrameScript),
    /** Opens a page, and waits until it contains a text, if one is given. */
    goTo: async (url: string, expectedText?: string): Promise<void> => {
      await page.goto(url);
      if (expectedText !== undefined) await waitForText(expectedText);
    },
    /**
     * Clicks the first button with that name, once it is enabled. Waits until the page contains a
     * text, if one is given.
     */
    click: async (name: string, expectedText?: string): Promise<void> => {
      await page.getByRole("button", { name, exact: true }).first().click();
      if (expectedText !== undefined) await waitForText(expectedText);
    },
    /** Clicks the button with that name in the open dialog, as {@link click} does. */
    clickInDialog: async (name: string, expectedText?: string): Promise<void> => {
      await page.getByRole("dialog").getByRole("button", { name, exact: true }).click();
      if (expectedText !== undefined) await waitForText(expectedText);
    },
    /** Opens the menu of the button with that name, and chooses an entry. */
    chooseInMenu: async (menuName: string | RegExp, entryName: string): Promise<void> => {
      await page.getByRole("button", { name: menuName, exact: true }).first().click();
      await page.getByRole("menuitem", { name: entryName, exact: true }).click();
    },
    /** Types into the first field of the form that contains the given button. */
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
