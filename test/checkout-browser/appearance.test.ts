import type { BrowserContextOptions, Page } from "playwright-core";
import { expect } from "@jest/globals";
import { waitUntil } from "@payment-links/runtime/testing";
import { findAxeViolations } from "../rig/find-axe-violations.ts";
import {
  type Checkout,
  type Payer,
  canPay,
  clickPay,
  listPaymentRequests,
} from "../rig/create-checkout.ts";
import { neverRespond } from "../rig/wallet.ts";
import { gzipSync } from "node:zlib";
import { requireChromium, sampleCases } from "../rig/require-chromium.ts";
import { useCheckout } from "../rig/use-checkout.ts";

const { describe, describeSoak, test } = requireChromium();

const firstLoadBytesMax = 40 * 1024;

const rig = useCheckout();

const baseUnitsPerToken = 1_000_000n;

/** Opens the page of a link that another payer has paid. */
const openPaidLink = async (rig: Checkout, tab: Payer): Promise<void> => {
  await rig.chain.pay({ ...tab.link, amount: 25n * baseUnitsPerToken });
  await rig.chain.mine(3);
  await rig.system.waitForLink(tab.link.id, ({ status }) => status === "completed");
  await tab.open();
};

/** Opens the page of a link that expires a moment after it was created. */
const openExpiredLink = async ({ system }: Checkout, tab: Payer): Promise<void> => {
  const expirationDate = new Date(Date.now() + 5_000).toISOString();
  const link = await system.createLink({ toAmount: "25", expirationDate });
  await system.waitForLink(link.id, ({ status }) => status === "inactive");
  await tab.goTo(link.pageUrl, "This payment link has expired.");
};

/** Returns the URL of the receipt of the open paid link. The page itself links to another host. */
const getReceiptUrl = async ({ system }: Checkout, { page }: Payer): Promise<string> => {
  const href = await page.getByRole("link", { name: "View receipt" }).getAttribute("href");
  return `${system.publicUrl}${new URL(href ?? "").pathname}`;
};

const openReceiptPage = async (rig: Checkout, tab: Payer): Promise<void> => {
  await openPaidLink(rig, tab);
  await tab.goTo(await getReceiptUrl(rig, tab), "Payment settled");
};

/** Returns the widths of the page and of its window, in CSS pixels. */
const findWidths = (page: Page) =>
  page.evaluate("[document.documentElement.scrollWidth, innerWidth]");

/** Each state of the page that a payer can see, and how to reach it. */
const checkoutPageStates: [string, (tab: Payer, rig: Checkout) => Promise<unknown>][] = [
  ["an open link", async (tab) => tab.waitForText("Pay 25 USDC")],
  ["the advanced details", async (tab) => tab.page.getByText("Advanced", { exact: true }).click()],
  ["the QR code", async (tab) => tab.page.getByRole("radio", { name: "QR code" }).check()],
  ["the exchange", async (tab) => tab.page.getByRole("radio", { name: "Exchange" }).check()],
  [
    "the list of wallets",
    async (tab) => {
      await clickPay(tab);
      await tab.waitForText("Choose a wallet");
    },
  ],
  [
    "a pending wallet request and the confirmation to pay again",
    async (tab) => {
      for (const wallet of tab.wallets) wallet.setHandler("eth_sendTransaction", neverRespond);
      await clickPay(tab);
      await tab.click("One");
      const isRequested = () => tab.wallets.flatMap(listPaymentRequests).length === 1;
      await waitUntil("the wallet receives the payment request", isRequested);
      await tab.page.reload();
      await tab.click("My payment didn't go through", "Did your payment really fail?");
    },
  ],
  [
    "a payment in progress",
    async (tab, rig) => {
      await rig.chain.pay({ ...tab.link, amount: 25n * baseUnitsPerToken });
      await tab.waitForText("Payment of 25 USDC detected.");
    },
  ],
  [
    "a partly paid link",
    async (tab, rig) => {
      await rig.chain.pay({ ...tab.link, amount: 10n * baseUnitsPerToken });
      await rig.chain.mine(3);
      await tab.waitForText("10 of 25 USDC received, 15 left.");
    },
  ],
  [
    "an expired link",
    async (tab, rig) => {
      await openExpiredLink(rig, tab);
    },
  ],
  [
    "a paid link",
    async (tab, rig) => {
      await openPaidLink(rig, tab);
      await tab.waitForText("Payment complete");
    },
  ],
  [
    "the receipt",
    async (tab, rig) => {
      await openReceiptPage(rig, tab);
    },
  ],
  [
    "the home page",
    async (tab, rig) => {
      await tab.goTo(rig.system.publicUrl, "Open console");
    },
  ],
  [
    "the not-found page",
    async (tab, rig) => {
      await tab.goTo(`${rig.system.publicUrl}/nothing`, "The link may be incomplete.");
    },
  ],
];

/**
 * Each state with the widths at which it is checked. `npm test` checks it at the width of a phone,
 * and at one of the other widths.
 */
const checkoutStates = checkoutPageStates.map(([name, prepare], index) => {
  const otherWidth = index % 2 === 0 ? 320 : 1280;
  const widths = sampleCases([390, 320, 1280], (width) => width === 390 || width === otherWidth);
  return { name, prepare, widths };
});

const image = "https://images.test/a.png";

/** An owner whose texts are all hostile and as long as allowed. */
const hostileOwner = {
  username: `\u202e<script>${"W".repeat(90)}`,
  bio: "\u200b😀".repeat(250),
  profileImage: image,
  backgroundImage: image,
  links: [`https://example.test/${"x".repeat(2000)}`],
};

/**
 * A 1-pixel image. It is served for every image URL, because the image service does not run in
 * these tests.
 */
const png = Buffer.from(
  "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mP8z8DwHwAFBQIAX8jx0gAAAABJRU5ErkJggg==",
  "base64",
);
const serveImages = ({ page }: Payer): Promise<unknown> =>
  page.route("**/checkout/images/**", (route) =>
    route.fulfill({ body: png, contentType: "image/png" }),
  );

/** Hostile texts for an owner and a link. Each text is as long as allowed. */
const hostileTexts: [string, { username: string; bio: string; description: string }][] = [
  [
    "a script",
    {
      username: `<script>alert(1)</script>`,
      bio: `"><img src=x onerror=alert(1)>`,
      description: `</p></main><script>alert(1)</script><style>*{display:none}</style>`,
    },
  ],
  [
    "right-to-left text",
    {
      username: `\u202e\u2067${"drow ".repeat(19)}`,
      bio: `\u202e${"אבג ".repeat(120)}`,
      description: `\u202e\u202d\u2066${"עברית ".repeat(80)}`,
    },
  ],
  [
    "emoji",
    {
      username: "😀".repeat(100),
      bio: "👨‍👩‍👧‍👦".repeat(71),
      description: "🎉".repeat(500),
    },
  ],
  [
    "zero-width characters",
    {
      username: `a${"\u200b".repeat(98)}b`,
      bio: "\u200b\u2060\ufeff".repeat(160),
      description: `${"\u200d".repeat(499)}x`,
    },
  ],
  [
    "long unbroken words",
    { username: "W".repeat(100), bio: "W".repeat(500), description: "W".repeat(500) },
  ],
  [
    "stacked combining marks and many lines",
    {
      username: `a${"\u0301".repeat(99)}`,
      bio: `a${"\u0330".repeat(499)}`,
      description: `a${"\u0301".repeat(99)}${"\n".repeat(300)}b`,
    },
  ],
];

const devices: [string, BrowserContextOptions, { hasQrCode: boolean; hasAppLinks: boolean }][] = [
  [
    "a computer",
    { viewport: { width: 1280, height: 900 } },
    { hasQrCode: true, hasAppLinks: false },
  ],
  [
    "a computer's small window",
    { viewport: { width: 320, height: 568 } },
    { hasQrCode: true, hasAppLinks: false },
  ],
  [
    "a phone",
    { viewport: { width: 320, height: 568 }, isMobile: true, hasTouch: true },
    { hasQrCode: false, hasAppLinks: true },
  ],
];

/**
 * Each combination of device and color scheme, with and without JavaScript. `npm test` omits the
 * small window.
 */
const devicesWithoutWallet = sampleCases(
  devices.flatMap(([device, options, expectedElements]) =>
    (["light", "dark"] as const).flatMap((colorScheme) =>
      [true, false].map((javaScriptEnabled) => ({
        device,
        options,
        expectedElements,
        colorScheme,
        javaScriptEnabled,
      })),
    ),
  ),
  ({ device, colorScheme, javaScriptEnabled }) =>
    (device === "a phone" || (device === "a computer" && javaScriptEnabled)) &&
    (colorScheme === "light") === javaScriptEnabled,
);

/** Returns the bounding boxes of the page's own elements. */
const readBoxes = async ({ page }: Payer) => {
  const elements = [
    page.getByRole("button", { name: "Pay 25 USDC" }),
    page.getByRole("heading", { level: 1 }),
    page.getByText("Advanced", { exact: true }),
  ];
  const boxes = await Promise.all(elements.map((element) => element.boundingBox()));
  return boxes.map((box) => box ?? { x: NaN, y: NaN, width: NaN, height: NaN });
};

const images = { profileImage: image, backgroundImage: image };
const openLinkWithTexts = async (
  rig: Checkout,
  owner: object,
  description: string,
): Promise<Payer> => {
  const viewport = { width: 320, height: 568 };
  const payer = await rig.createPayer({ toAmount: "25", description, owner }, { viewport });
  await serveImages(payer);
  await payer.open("Pay 25 USDC");
  return payer;
};

/**
 * Expects that the checkout renders the texts as plain text and that its own elements stay in
 * place.
 */
const expectRenderedAsText = async (
  rig: Checkout,
  { description, ...texts }: (typeof hostileTexts)[number][1],
): Promise<void> => {
  const plainBoxes = await readBoxes(
    await openLinkWithTexts(rig, { ...images, username: "Owner" }, "Words"),
  );
  const links = [`https://example.test/${"x".repeat(2000)}`];
  const payer = await openLinkWithTexts(rig, { ...images, ...texts, links }, description);
  const renderedTexts = await payer.page.evaluate<string[]>(
    `[".name", ".bio", ".description", ".links"].map((name) =>
      document.querySelector(name).textContent.trim())`,
  );
  expect(renderedTexts).toEqual(
    [texts.username, texts.bio, description, ...links].map((text) => text.trim()),
  );
  expect(await findWidths(payer.page)).toEqual([320, 320]);
  const [pay, amount, details] = await readBoxes(payer);
  const [plainPay, plainAmount, plainDetails] = plainBoxes;
  // A name and a description can each wrap to a second line, but not to a third.
  const [nameLine, descriptionLine] = [24, 20];
  for (const [box, plainBox] of [
    [pay, plainPay],
    [amount, plainAmount],
  ] as const) {
    const offsetY = (box?.y ?? NaN) - (plainBox?.y ?? NaN);
    expect([0, nameLine, descriptionLine, nameLine + descriptionLine]).toContain(offsetY);
    expect(box).toEqual({ ...plainBox, y: (plainBox?.y ?? NaN) + offsetY });
  }
  expect(details).toEqual({ ...plainDetails, y: details?.y });
  // Stacked combining marks are clipped to their own element and do not cover other elements.
  const overflows = await payer.page.evaluate<string[]>(
    `[".name", ".bio", ".description", ".links"].map((name) =>
      getComputedStyle(document.querySelector(name)).overflow)`,
  );
  expect(overflows).toEqual(overflows.map(() => "hidden"));
  expect(await findAxeViolations(payer.page)).toEqual([]);
};

/** Records what a tab loads from now on, without the requests for the link's state. */
const measureLoad = ({ page }: Pick<Payer, "page">) => {
  const bodies = new Map<string, Promise<Buffer>>();
  page.on("response", (response) => {
    const { pathname } = new URL(response.url());
    if (!pathname.startsWith("/checkout/payment-links/")) bodies.set(pathname, response.body());
  });
  const getLoadedPaths = () =>
    [...bodies.keys()].map((path) => path.replace(/(plink|tx)_\w+|@\w+/g, "…"));
  return {
    waitForPaths: (expectedPaths: readonly string[]): Promise<unknown> =>
      waitUntil(
        () => `${expectedPaths.join()} loaded; loaded so far: ${getLoadedPaths().join()}`,
        () => expectedPaths.every((path) => getLoadedPaths().includes(path)),
      ),
    sumCompressedBytes: async (): Promise<number> =>
      (await Promise.all(bodies.values()))
        .map((body) => gzipSync(body).length)
        .reduce((sum, bytes) => sum + bytes, 0),
  };
};

describe("the checkout", () => {
  test.each(checkoutStates)(
    "shows $name at $widths px, in light and dark, with no axe violations and no horizontal overflow",
    async ({ prepare, widths }) => {
      const tab = await rig.createPayer(
        { toAmount: "25", walletNames: ["One", "Two"] },
        { reducedMotion: "reduce", viewport: { width: 390, height: 568 } },
      );
      await tab.open();
      await prepare(tab, rig);
      for (const width of widths) {
        await tab.page.setViewportSize({ width, height: 568 });
        expect(await findWidths(tab.page)).toEqual([width, width]);
        for (const colorScheme of ["light", "dark"] as const) {
          await tab.page.emulateMedia({ colorScheme });
          const violations = await findAxeViolations(tab.page);
          expect([width, colorScheme, violations]).toEqual([width, colorScheme, []]);
        }
      }
    },
  );
});

describe("the page of an unverified seller (rule CALLER-38)", () => {
  const warningTexts = {
    "en-US": "The operator of this site has not verified this seller.",
    "de-DE": "Der Betreiber dieser Website hat diesen Verkäufer nicht geprüft.",
  };

  test.each([
    ["en-US", "light"],
    ["de-DE", "dark"],
  ] as const)(
    "shows a warning next to the seller's name on a small phone, in %s and %s colors, and can be paid",
    async (locale, colorScheme) => {
      const payer = await rig.createPayer(
        { toAmount: "25", owner: { isVerified: false } },
        { locale, colorScheme, viewport: { width: 320, height: 568 } },
      );
      await payer.open();
      await payer.waitForText(warningTexts[locale]);
      const header = payer.page.getByRole("main").locator("header");
      expect(await header.getByText(warningTexts[locale]).isVisible()).toBe(true);
      expect(await findAxeViolations(payer.page)).toEqual([]);
      expect(await findWidths(payer.page)).toEqual([320, 320]);
      await payer.page.locator("#wallet").click();
      await waitUntil(
        "the wallet receives the payment request",
        () => listPaymentRequests(payer.wallet).length === 1,
      );
    },
  );
});

describe("a payer with a German browser", () => {
  test("sees German text that fits a small phone, and pays", async () => {
    const payer = await rig.createPayer(
      { toAmount: "1234.5" },
      { locale: "de-DE", viewport: { width: 320, height: 568 } },
    );
    await payer.open("1.234,5 USDC zahlen");
    await payer.page.getByText("Erweitert", { exact: true }).click();
    await payer.waitForText("Eine einfache Überweisung an die Adresse des Verkäufers");
    expect(await findAxeViolations(payer.page)).toEqual([]);
    expect(await findWidths(payer.page)).toEqual([320, 320]);
    await payer.page.getByRole("button", { name: "1.234,5 USDC zahlen" }).click();
    await payer.waitForText("Zahlung von 1.234,5 USDC erkannt.");
    expect(await findAxeViolations(payer.page)).toEqual([]);
  });
});

describe("a browser without a wallet", () => {
  test.each(devicesWithoutWallet)(
    "on $device in $colorScheme (script: $javaScriptEnabled) offers the alternatives that fit the device",
    async ({ options, expectedElements, colorScheme, javaScriptEnabled }) => {
      const { link } = await rig.createPayer({ toAmount: "25" });
      const user = await rig.createUser({ ...options, colorScheme, javaScriptEnabled });
      const { goTo, page, waitForText } = await user.openTab();
      await goTo(link.pageUrl);
      await waitForText(javaScriptEnabled ? "Payment method" : "To pay manually");
      expect(await canPay({ page })).toBe(false);
      const qrCode = page.getByRole("img", { name: "QR code for this page" });
      const appLink = page.getByRole("link", { name: "Open in MetaMask" });
      expect({
        hasQrCode: await qrCode.isVisible(),
        hasAppLinks: await appLink.isVisible(),
      }).toEqual({
        ...expectedElements,
        // Without JavaScript, all options are visible.
        hasQrCode: expectedElements.hasQrCode || !javaScriptEnabled,
      });
      if (expectedElements.hasQrCode) {
        const isQrCodeLoaded = () =>
          page.evaluate<boolean>(
            "[...document.images].some(({ src, naturalWidth }) => /\\/qr\\//.test(src) && naturalWidth > 0)",
          );
        await waitUntil("the QR code is loaded", isQrCodeLoaded);
      }
      expect(await findWidths(page)).toEqual([options.viewport?.width, options.viewport?.width]);
      // axe requires JavaScript. The page without JavaScript differs only in its texts.
      if (javaScriptEnabled) expect(await findAxeViolations(page)).toEqual([]);
    },
  );

  test("loads a QR code, unlike a browser with a wallet", async () => {
    const tab = await rig.createPayer(
      { toAmount: "25" },
      { viewport: { width: 1280, height: 900 } },
    );
    const requestedPaths: string[] = [];
    tab.page.on("request", (request) => requestedPaths.push(new URL(request.url()).pathname));
    await tab.open("Pay 25 USDC");
    await tab.page.waitForLoadState("load");
    expect(requestedPaths.filter((path) => path.startsWith("/checkout/qr/"))).toEqual([]);
  });
});

describe("user-supplied text", () => {
  test.each(sampleCases(hostileTexts, ([name]) => name === "a script"))(
    "with %s is shown as plain text and displaces nothing on the page",
    (_name, texts) => expectRenderedAsText(rig, texts),
  );
});

describe("a printed receipt", () => {
  test("is black on white even from a dark screen, without elements that only a screen needs", async () => {
    const payer = await rig.createPayer(
      { toAmount: "25", owner: { backgroundColour: "#1f4fd8" } },
      { colorScheme: "dark", locale: "en-US", timezoneId: "Asia/Tokyo" },
    );
    await openReceiptPage(rig, payer);
    await payer.waitForText("Amount paid\n25 USDC");
    await payer.waitForText("GMT+9");
    expect(await payer.page.getByText("Print receipt").isVisible()).toBe(true);
    await payer.page.emulateMedia({ media: "print" });
    const text = await payer.readText();
    expect(text).toContain("Requested\n25 USDC");
    expect(text).not.toContain("Print receipt");
    expect(await payer.page.locator(".ground").isVisible()).toBe(false);
    const colors = await payer.page
      .evaluate(`[".card", "dt", "dd", "a", ".paid-label"].map((name) =>
      getComputedStyle(document.querySelector(name)).color)`);
    const [black, grey] = ["rgb(0, 0, 0)", "rgb(51, 51, 51)"];
    expect(colors).toEqual([black, grey, black, black, black]);
    const backgrounds = await payer.page.evaluate(`["body", ".card"].map((name) =>
      getComputedStyle(document.querySelector(name)).backgroundColor)`);
    expect(backgrounds).toEqual(["rgb(255, 255, 255)", "rgb(255, 255, 255)"]);
    const printedLinkScript = `getComputedStyle(document.querySelector("main .actions a"), "::after").content`;
    expect(await payer.page.evaluate(printedLinkScript)).toContain(payer.link.id);
  });
});

describe("an owner's color", () => {
  test.each(sampleCases(["#1f4fd8", "#ffff00", "#000000"], (_color, index) => index === 0))(
    "%s is the page background, and no text is placed directly on it (rule API-32)",
    async (backgroundColour) => {
      for (const colorScheme of ["light", "dark"] as const) {
        const payer = await rig.createPayer(
          { toAmount: "25", owner: { backgroundColour } },
          { colorScheme, viewport: { width: 1280, height: 800 } },
        );
        await payer.open("Pay 25 USDC");
        const background = await payer.page.locator(".ground").boundingBox();
        expect(background).toEqual({ x: 0, y: 0, width: 1280, height: 800 });
        const frontmostClass = await payer.page.evaluate<string>(`
          document.elementFromPoint(innerWidth / 2, innerHeight / 3).closest(".card, .ground")
            ?.getAttribute("class")`);
        expect(frontmostClass).toBe("card split");
        const textOutsideCard = await payer.page.evaluate<string>(`
          document.querySelector(".card").remove(), document.body.innerText.trim()`);
        expect(textOutsideCard).toBe("");
        await payer.open();
        expect(await findAxeViolations(payer.page)).toEqual([]);
      }
    },
  );
});

describe("the checkout on a phone", () => {
  test("shows its main action without scrolling, regardless of the owner's and the link's texts", async () => {
    const payer = await rig.createPayer(
      {
        toAmount: "25",
        description: "so many words ".repeat(35),
        owner: { ...hostileOwner, isVerified: false },
      },
      { viewport: { width: 375, height: 667 } },
    );
    await serveImages(payer);
    await payer.open();
    const buttonBox = await payer.page.getByRole("button", { name: "Pay 25 USDC" }).boundingBox();
    expect((buttonBox?.y ?? Infinity) + (buttonBox?.height ?? 0)).toBeLessThan(667);
  });

  test("groups the digits of an amount by the reader's locale without rounding (rule API-28)", async () => {
    const toAmount = "12345678901234567890.123456";
    const payer = await rig.createPayer({ toAmount }, { locale: "pt-BR" });
    await payer.open("Pagar 12.345.678.901.234.567.890,123456 USDC");
  });

  test.each<[string, boolean]>([
    ["with a wallet", true],
    ["without a wallet, including the QR code", false],
  ])("loads less than 40 KiB in total, compressed, %s", async (_case, hasWallet) => {
    const payer = await rig.createPayer({ toAmount: "25" });
    const tab = hasWallet ? payer : await (await rig.createUser({})).openTab();
    const load = measureLoad(tab);
    await tab.goTo(payer.link.pageUrl);
    await tab.waitForText(hasWallet ? "Pay 25 USDC" : "Scan to open this page");
    await load.waitForPaths([
      "/checkout/assets/checkout.js",
      "/checkout/assets/page.css",
      "/checkout/assets/token-usdc.svg",
      ...(hasWallet ? [] : ["/checkout/qr/….svg"]),
      "/…/pay/…",
    ]);
    expect(await load.sumCompressedBytes()).toBeLessThan(firstLoadBytesMax);
  });

  test("loads less than 40 KiB in total, compressed, for a receipt", async () => {
    const payer = await rig.createPayer({ toAmount: "25" });
    await openPaidLink(rig, payer);
    const receiptUrl = await getReceiptUrl(rig, payer);
    const tab = await (await rig.createUser({})).openTab();
    const load = measureLoad(tab);
    await tab.goTo(receiptUrl, "Payment settled");
    await load.waitForPaths(["/checkout/assets/page.css", "/checkout/assets/page.js", "/tx/…"]);
    expect(await load.sumCompressedBytes()).toBeLessThan(firstLoadBytesMax);
  });
});

describeSoak("user-supplied text on a receipt", () => {
  test.each(hostileTexts.filter(([name]) => /emoji|unbroken|right-to-left/.test(name)))(
    "with %s is shown as plain text without horizontal overflow",
    async (_name, { description, ...owner }) => {
      const payer = await rig.createPayer(
        { toAmount: "25", description, owner },
        { viewport: { width: 320, height: 568 } },
      );
      await openReceiptPage(rig, payer);
      const renderedTexts = await payer.page.evaluate<
        string[]
      >(`[".name", ".bio", ".description"].map(
        (name) => document.querySelector(name).textContent.trim())`);
      const expectedTexts = [owner.username, owner.bio, description];
      expect(renderedTexts).toEqual(expectedTexts.map((text) => text.trim()));
      expect(await findWidths(payer.page)).toEqual([320, 320]);
    },
  );
});
