import { gzipSync } from "node:zlib";
import { expect } from "@jest/globals";
import { waitUntil } from "@payment-links/runtime/testing";
import {
  devicesWithoutWallet,
  expectColorBehindContent,
  expectAccessibleLayout,
  expectAlternativesShown,
  expectRenderedAsText,
  findWidths,
  hostileOwner,
  checkoutStates,
  openReceiptPage,
  hostileTexts,
  serveImages,
} from "../rig/checkout-states.ts";
import { findAxeViolations } from "../rig/find-axe-violations.ts";
import { requireChromium } from "../rig/require-chromium.ts";
import { listPaymentRequests } from "../rig/create-checkout.ts";
import { useCheckout } from "../rig/use-checkout.ts";

const { describe, test } = requireChromium();

const firstLoadBytesMax = 40 * 1024;

const rig = useCheckout();

describe("the checkout", () => {
  // Covers each state once, either narrow and light or wide and dark. The soak test covers all
  // combinations.
  const sampledStates = checkoutStates.filter(({ name, colorScheme, width }) => {
    const isNarrowAndLight =
      [...new Set(checkoutStates.map((state) => state.name))].indexOf(name) % 2 === 0;
    return isNarrowAndLight
      ? colorScheme === "light" && width === 320
      : colorScheme === "dark" && width > 320;
  });

  test.each(sampledStates)(
    "at $width px in $colorScheme shows $name with no axe violations and no horizontal overflow",
    (state) => expectAccessibleLayout(rig, state),
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
      await payer.goTo(payer.link.pageUrl);
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
    await payer.goTo(payer.link.pageUrl);
    await payer.waitForText("1.234,5 USDC zahlen");
    await payer.page.getByText("Details", { exact: true }).click();
    await payer.waitForText("Eine einfache Überweisung an die Adresse des Verkäufers");
    expect(await findAxeViolations(payer.page)).toEqual([]);
    expect(await findWidths(payer.page)).toEqual([320, 320]);
    await payer.page.getByRole("button", { name: "1.234,5 USDC zahlen" }).click();
    await payer.waitForText("Zahlung von 1.234,5 USDC erkannt.");
    expect(await findAxeViolations(payer.page)).toEqual([]);
  });
});

describe("a browser without a wallet", () => {
  const sampledDevices = devicesWithoutWallet.filter(
    ({ device, colorScheme, javaScriptEnabled }) =>
      (device === "a phone" || (device === "a computer" && javaScriptEnabled)) &&
      (colorScheme === "light") === javaScriptEnabled,
  );

  test.each(sampledDevices)(
    "on $device in $colorScheme (script: $javaScriptEnabled) offers the alternatives that fit the device",
    (device) => expectAlternativesShown(rig, device),
  );

  test("loads a QR code, unlike a browser with a wallet", async () => {
    const tab = await rig.createPayer(
      { toAmount: "25" },
      { viewport: { width: 1280, height: 900 } },
    );
    const requestedPaths: string[] = [];
    tab.page.on("request", (request) => requestedPaths.push(new URL(request.url()).pathname));
    await tab.goTo(tab.link.pageUrl);
    await tab.waitForText("Pay 25 USDC");
    await tab.page.waitForLoadState("load");
    expect(requestedPaths.filter((path) => path.startsWith("/checkout/qr/"))).toEqual([]);
  });
});

describe("user-supplied text", () => {
  test.each(hostileTexts.filter(([name]) => /script/.test(name)))(
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
    const colors = await payer.page.evaluate(`[".card", "dt", "dd", "a", ".badge"].map((name) =>
      getComputedStyle(document.querySelector(name)).color)`);
    const [black, grey] = ["rgb(0, 0, 0)", "rgb(51, 51, 51)"];
    expect(colors).toEqual([black, grey, black, black, black]);
    const backgrounds = await payer.page.evaluate(`["body", ".card"].map((name) =>
      getComputedStyle(document.querySelector(name)).backgroundColor)`);
    expect(backgrounds).toEqual(["rgb(255, 255, 255)", "rgb(255, 255, 255)"]);
    const printedLinkScript = `getComputedStyle(document.querySelector("main > p > a"), "::after").content`;
    expect(await payer.page.evaluate(printedLinkScript)).toContain(payer.link.id);
  });
});

describe("an owner's color", () => {
  test.each(["#1f4fd8"])(
    "%s is the page background, and no text is placed directly on it (rule API-32)",
    (backgroundColour) => expectColorBehindContent(rig, backgroundColour),
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
    await payer.goTo(payer.link.pageUrl);
    const buttonBox = await payer.page.getByRole("button", { name: "Pay 25 USDC" }).boundingBox();
    expect((buttonBox?.y ?? Infinity) + (buttonBox?.height ?? 0)).toBeLessThan(667);
  });

  test("groups the digits of an amount by the reader's locale without rounding (rule API-28)", async () => {
    const toAmount = "12345678901234567890.123456";
    const payer = await rig.createPayer({ toAmount }, { locale: "pt-BR" });
    await payer.goTo(payer.link.pageUrl);
    await payer.waitForText("Pay 12.345.678.901.234.567.890,123456 USDC");
  });

  test.each<[string, boolean]>([
    ["with a wallet", true],
    ["without a wallet, including the QR code", false],
  ])("loads less than 40 KiB in total, compressed, %s", async (_case, hasWallet) => {
    const payer = await rig.createPayer({ toAmount: "25" });
    const tab = hasWallet ? payer : await (await rig.createUser({})).openTab();
    const bodies = new Map<string, Promise<Buffer>>();
    tab.page.on("response", (response) => {
      const { pathname } = new URL(response.url());
      if (!pathname.startsWith("/checkout/payment-links/")) bodies.set(pathname, response.body());
    });
    await tab.goTo(payer.link.pageUrl);
    await tab.waitForText(hasWallet ? "Pay 25 USDC" : "Choose how to pay");
    const getLoadedPaths = () =>
      [...bodies.keys()].map((path) => path.replace(/plink_\w+|@\w+/g, "…"));
    const expectedPaths = [
      "/checkout/assets/checkout.js",
      "/checkout/assets/page.css",
      "/checkout/logos/1337.svg",
      ...(hasWallet ? [] : ["/checkout/qr/….svg"]),
      "/…/pay/…",
    ];
    await waitUntil(
      () => `${expectedPaths.join()} loaded; loaded so far: ${getLoadedPaths().join()}`,
      () => expectedPaths.every((path) => getLoadedPaths().includes(path)),
    );
    const sizes = (await Promise.all(bodies.values())).map((body) => gzipSync(body).length);
    const size = sizes.reduce((sum, bytes) => sum + bytes, 0);
    expect(size).toBeLessThan(firstLoadBytesMax);
  });
});
