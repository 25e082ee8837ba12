import type { BrowserContextOptions, Page } from "playwright-core";
import { expect } from "@jest/globals";
import { waitUntil } from "@payment-links/runtime/testing";
import { findAxeViolations } from "./find-axe-violations.ts";
import { type Checkout, type Payer, clickPay, listPaymentRequests } from "./create-checkout.ts";
import { neverRespond } from "./wallet.ts";

const baseUnitsPerToken = 1_000_000n;

/** Opens the page of a link that another payer has paid. */
const openPaidLink = async (rig: Checkout, tab: Payer): Promise<void> => {
  await rig.chain.pay({ ...tab.link, amount: 25n * baseUnitsPerToken });
  await rig.chain.mine(3);
  await rig.system.waitForLink(tab.link.id, ({ status }) => status === "completed");
  await tab.goTo(tab.link.pageUrl);
};

export const openReceiptPage = async (rig: Checkout, tab: Payer): Promise<void> => {
  await openPaidLink(rig, tab);
  const href = await tab.page.getByRole("link", { name: "View receipt" }).getAttribute("href");
  await tab.goTo(`${rig.system.publicUrl}${new URL(href ?? "").pathname}`);
  await tab.waitForText("Payment settled");
};

/** Returns the widths of the page and of its window, in CSS pixels. */
export const findWidths = (page: Page) =>
  page.evaluate("[document.documentElement.scrollWidth, innerWidth]");

/** Each state of the page that a payer can see, and how to reach it. */
const checkoutPageStates: [string, (tab: Payer, rig: Checkout) => Promise<unknown>][] = [
  ["an open link", async (tab) => tab.waitForText("Pay 25 USDC")],
  ["the details", async (tab) => tab.page.getByText("Details", { exact: true }).click()],
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
      await tab.click("My payment didn't go through");
      await tab.waitForText("Did your payment really fail?");
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
      await tab.goTo(rig.system.publicUrl);
      await tab.waitForText("Open console");
    },
  ],
  [
    "the not-found page",
    async (tab, rig) => {
      await tab.goTo(`${rig.system.publicUrl}/nothing`);
      await tab.waitForText("Check the link and try again.");
    },
  ],
];

/** Each combination of state, width and color scheme. */
export const checkoutStates = (["light", "dark"] as const).flatMap((colorScheme) =>
  checkoutPageStates.flatMap(([name, prepare]) =>
    [320, 1280].map((width) => ({ name, colorScheme, width, prepare })),
  ),
);

export const expectAccessibleLayout = async (
  rig: Checkout,
  { colorScheme, width, prepare }: (typeof checkoutStates)[number],
): Promise<void> => {
  const tab = await rig.createPayer(
    { toAmount: "25", walletNames: ["One", "Two"] },
    { colorScheme, viewport: { width, height: 568 } },
  );
  await tab.goTo(tab.link.pageUrl);
  await prepare(tab, rig);
  expect(await findAxeViolations(tab.page)).toEqual([]);
  expect(await findWidths(tab.page)).toEqual([width, width]);
};

const image = "https://images.test/a.png";

/** An owner whose texts are all hostile and as long as allowed. */
export const hostileOwner = {
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
export const serveImages = ({ page }: Payer): Promise<unknown> =>
  page.route("**/checkout/images/**", (route) =>
    route.fulfill({ body: png, contentType: "image/png" }),
  );

/** Hostile texts for an owner and a link. Each text is as long as allowed. */
export const hostileTexts: [string, { username: string; bio: string; description: string }][] = [
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
    { hasQrCode: false, hasAppLinks: false },
  ],
  [
    "a phone",
    { viewport: { width: 320, height: 568 }, isMobile: true, hasTouch: true },
    { hasQrCode: false, hasAppLinks: true },
  ],
];

/** Each combination of device and color scheme, with and without JavaScript. */
export const devicesWithoutWallet = devices.flatMap(([device, options, expectedElements]) =>
  (["light", "dark"] as const).flatMap((colorScheme) =>
    [true, false].map((javaScriptEnabled) => ({
      device,
      options,
      expectedElements,
      colorScheme,
      javaScriptEnabled,
    })),
  ),
);

export const expectAlternativesShown = async (
  rig: Checkout,
  {
    options,
    expectedElements,
    colorScheme,
    javaScriptEnabled,
  }: (typeof devicesWithoutWallet)[number],
): Promise<void> => {
  const { link } = await rig.createPayer({ toAmount: "25" });
  const user = await rig.createUser({ ...options, colorScheme, javaScriptEnabled });
  const { goTo, page, waitForText } = await user.openTab();
  await goTo(link.pageUrl);
  await waitForText(javaScriptEnabled ? "Choose how to pay" : "To pay manually");
  const qrCode = page.getByRole("img", { name: "QR code for this page" });
  const appLink = page.getByRole("link", { name: "Open in MetaMask" });
  expect({ hasQrCode: await qrCode.isVisible(), hasAppLinks: await appLink.isVisible() }).toEqual(
    expectedElements,
  );
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
};

/** Returns the bounding boxes of the page's own elements. */
const readBoxes = async ({ page }: Payer) => {
  const elements = [
    page.getByRole("button", { name: "Pay 25 USDC" }),
    page.getByRole("heading", { level: 1 }),
    page.getByText("Details", { exact: true }),
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
  await payer.goTo(payer.link.pageUrl);
  await payer.waitForText("Pay 25 USDC");
  return payer;
};

/**
 * Expects that the checkout renders the texts as plain text and that its own elements stay in
 * place.
 */
export const expectRenderedAsText = async (
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
  // A name can wrap to a second line, but not to a third.
  const lineHeight = 24;
  for (const [box, plainBox] of [
    [pay, plainPay],
    [amount, plainAmount],
  ] as const) {
    const offsetY = (box?.y ?? NaN) - (plainBox?.y ?? NaN);
    expect([0, lineHeight]).toContain(offsetY);
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

/**
 * Expects that the page background has the owner's color and that no text is directly on this
 * background.
 */
export const expectColorBehindContent = async (
  rig: Checkout,
  backgroundColour: string,
): Promise<void> => {
  for (const colorScheme of ["light", "dark"] as const) {
    const payer = await rig.createPayer(
      { toAmount: "25", owner: { backgroundColour } },
      { colorScheme, viewport: { width: 1280, height: 800 } },
    );
    await payer.goTo(payer.link.pageUrl);
    await payer.waitForText("Pay 25 USDC");
    const background = await payer.page.locator(".ground").boundingBox();
    expect(background).toEqual({ x: 0, y: 0, width: 1280, height: 800 });
    const frontmostClass = await payer.page.evaluate<string>(`
      document.elementFromPoint(innerWidth / 2, innerHeight / 3).closest(".card, .ground")
        ?.getAttribute("class")`);
    expect(frontmostClass).toBe("card");
    const textOutsideCard = await payer.page.evaluate<string>(`
      document.querySelector(".card").remove(), document.body.innerText.trim()`);
    expect(textOutsideCard).toBe("");
    await payer.goTo(payer.link.pageUrl);
    expect(await findAxeViolations(payer.page)).toEqual([]);
  }
};
