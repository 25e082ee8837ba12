import { gzipSync } from "node:zlib";
import { expect } from "@jest/globals";
import { waitUntil } from "@payment-links/runtime/testing";
import {
  devicesWithoutWallet,
  expectColourBehind,
  expectGoodLook,
  expectLedOn,
  expectShownAsText,
  findWidths,
  hostile,
  looks,
  openReceipt,
  sayings,
  showImages,
} from "../rig/checkout-looks.ts";
import { findAxeFaults } from "../rig/find-axe-faults.ts";
import { needingChromium } from "../rig/find-chromium.ts";
import { paymentsOf } from "../rig/open-checkout.ts";
import { useCheckout } from "../rig/use-checkout.ts";

const { describe, test } = needingChromium();

const firstLoadBytesMax = 40 * 1024;

const rig = useCheckout();

describe("the checkout", () => {
  // Each state once, by turns narrow and light, wide and dark; all combinations are in the soak test.
  const someLooks = looks.filter(({ name, colorScheme, width }) => {
    const isNarrow = [...new Set(looks.map((look) => look.name))].indexOf(name) % 2 === 0;
    return isNarrow
      ? colorScheme === "light" && width === 320
      : colorScheme === "dark" && width > 320;
  });

  test.each(someLooks)(
    "at $width px in $colorScheme shows $name without a fault of axe, and nothing beside the window",
    (look) => expectGoodLook(rig, look),
  );
});

describe("the page of a seller whom the operator has not verified (rule CALLER-38)", () => {
  const sentences = {
    "en-US": "The operator of this site has not verified this seller.",
    "de-DE": "Der Betreiber dieser Website hat diesen Verkäufer nicht geprüft.",
  };

  test.each([
    ["en-US", "light"],
    ["de-DE", "dark"],
  ] as const)(
    "says so beside the seller's name on a small phone, in %s and %s colors, and can be paid",
    async (locale, colorScheme) => {
      const payer = await rig.openPayer(
        { toAmount: "25", owner: { isVerified: false } },
        { locale, colorScheme, viewport: { width: 320, height: 568 } },
      );
      await payer.goTo(payer.link.pageUrl);
      await payer.see(sentences[locale]);
      const head = payer.page.getByRole("main").locator("header");
      expect(await head.getByText(sentences[locale]).isVisible()).toBe(true);
      expect(await findAxeFaults(payer.page)).toEqual([]);
      expect(await findWidths(payer.page)).toEqual([320, 320]);
      await payer.page.locator("#wallet").click();
      await waitUntil("the payment", () => paymentsOf(payer.wallet).length === 1);
    },
  );
});

describe("a payer who reads German", () => {
  test("is told so on every inch of a small phone, and pays", async () => {
    const payer = await rig.openPayer(
      { toAmount: "1234.5" },
      { locale: "de-DE", viewport: { width: 320, height: 568 } },
    );
    await payer.goTo(payer.link.pageUrl);
    await payer.see("1.234,5 USDC zahlen");
    await payer.page.getByText("Einzelheiten", { exact: true }).click();
    await payer.see("Eine einfache Überweisung an die Adresse des Empfängers");
    expect(await findAxeFaults(payer.page)).toEqual([]);
    expect(await findWidths(payer.page)).toEqual([320, 320]);
    await payer.page.getByRole("button", { name: "1.234,5 USDC zahlen" }).click();
    await payer.see("Eine Zahlung von 1.234,5 USDC wurde gesehen und wird bestätigt.");
    expect(await findAxeFaults(payer.page)).toEqual([]);
  });
});

describe("a browser without a wallet", () => {
  const someDevices = devicesWithoutWallet.filter(
    ({ device, colorScheme, javaScriptEnabled }) =>
      (device === "a phone" || (device === "a computer" && javaScriptEnabled)) &&
      (colorScheme === "light") === javaScriptEnabled,
  );

  test.each(someDevices)(
    "on $device in $colorScheme (script: $javaScriptEnabled) is led on by what fits the device",
    (device) => expectLedOn(rig, device),
  );

  test("and one with a wallet loads no QR code", async () => {
    const tab = await rig.openPayer({ toAmount: "25" }, { viewport: { width: 1280, height: 900 } });
    const asked: string[] = [];
    tab.page.on("request", (request) => asked.push(new URL(request.url()).pathname));
    await tab.goTo(tab.link.pageUrl);
    await tab.see("Pay 25 USDC");
    await tab.page.waitForLoadState("load");
    expect(asked.filter((path) => path.startsWith("/checkout/qr/"))).toEqual([]);
  });
});

describe("what people say", () => {
  test.each(sayings.filter(([name]) => /script/.test(name)))(
    "is %s: it stands there as text and displaces nothing of the page",
    (_name, said) => expectShownAsText(rig, said),
  );
});

describe("a receipt on paper", () => {
  test("is black on white also from a dark screen, without what only a screen needs", async () => {
    const payer = await rig.openPayer(
      { toAmount: "25", owner: { backgroundColour: "#1f4fd8" } },
      { colorScheme: "dark", locale: "en-US", timezoneId: "Asia/Tokyo" },
    );
    await openReceipt(rig, payer);
    await payer.see("This payment\n25 USDC");
    await payer.see("GMT+9");
    expect(await payer.page.getByText("Print this receipt").isVisible()).toBe(true);
    await payer.page.emulateMedia({ media: "print" });
    const text = await payer.text();
    expect(text).toContain("Asked for\n25 USDC");
    expect(text).not.toContain("Print this receipt");
    expect(await payer.page.locator(".ground").isVisible()).toBe(false);
    const colours = await payer.page.evaluate(`[".card", "dt", "dd", "a", ".badge"].map((name) =>
      getComputedStyle(document.querySelector(name)).color)`);
    const [black, grey] = ["rgb(0, 0, 0)", "rgb(51, 51, 51)"];
    expect(colours).toEqual([black, grey, black, black, black]);
    const grounds = await payer.page.evaluate(`["body", ".card"].map((name) =>
      getComputedStyle(document.querySelector(name)).backgroundColor)`);
    expect(grounds).toEqual(["rgb(255, 255, 255)", "rgb(255, 255, 255)"]);
    const linkOf = `getComputedStyle(document.querySelector("main > p > a"), "::after").content`;
    expect(await payer.page.evaluate(linkOf)).toContain(payer.link.id);
  });
});

describe("an owner's colour", () => {
  test.each(["#1f4fd8"])(
    "%s is the ground of the page, and no text stands on it (rule API-32)",
    (backgroundColour) => expectColourBehind(rig, backgroundColour),
  );
});

describe("the checkout on a phone", () => {
  test("has its one action in sight without scrolling, whatever its owner and link say", async () => {
    const payer = await rig.openPayer(
      {
        toAmount: "25",
        description: "so many words ".repeat(35),
        owner: { ...hostile, isVerified: false },
      },
      { viewport: { width: 375, height: 667 } },
    );
    await showImages(payer);
    await payer.goTo(payer.link.pageUrl);
    const box = await payer.page.getByRole("button", { name: "Pay 25 USDC" }).boundingBox();
    expect((box?.y ?? Infinity) + (box?.height ?? 0)).toBeLessThan(667);
  });

  test("groups an amount as its reader does, digit for digit (rule API-28)", async () => {
    const toAmount = "12345678901234567890.123456";
    const payer = await rig.openPayer({ toAmount }, { locale: "pt-BR" });
    await payer.goTo(payer.link.pageUrl);
    await payer.see("Pay 12.345.678.901.234.567.890,123456 USDC");
  });

  test.each<[string, boolean]>([
    ["with a wallet", true],
    ["without one, with the QR code", false],
  ])("loads less than 40 KiB in all, compressed, %s", async (_who, hasWallet) => {
    const payer = await rig.openPayer({ toAmount: "25" });
    const tab = hasWallet ? payer : await (await rig.openPerson({})).openTab();
    const bodies = new Map<string, Promise<Buffer>>();
    tab.page.on("response", (response) => {
      const { pathname } = new URL(response.url());
      if (!pathname.startsWith("/checkout/payment-links/")) bodies.set(pathname, response.body());
    });
    await tab.goTo(payer.link.pageUrl);
    await tab.see(hasWallet ? "Pay 25 USDC" : "There is no wallet in this browser.");
    const loaded = () => [...bodies.keys()].map((path) => path.replace(/plink_\w+|@\w+/g, "…"));
    const wanted = [
      "/checkout/assets/checkout.js",
      "/checkout/assets/page.css",
      "/checkout/logos/1337.svg",
      ...(hasWallet ? [] : ["/checkout/qr/….svg"]),
      "/…/pay/…",
    ];
    await waitUntil(
      () => `${wanted.join()} in ${loaded().join()}`,
      () => wanted.every((path) => loaded().includes(path)),
    );
    const sizes = (await Promise.all(bodies.values())).map((body) => gzipSync(body).length);
    const size = sizes.reduce((sum, one) => sum + one, 0);
    expect(size).toBeLessThan(firstLoadBytesMax);
  });
});
