import { gzipSync } from "node:zlib";
import type { BrowserContextOptions, Page } from "playwright-core";
import { expect } from "@jest/globals";
import { waitUntil } from "@payment-links/runtime/testing";
import { findAxeFaults } from "../rig/find-axe-faults.ts";
import { needingChromium } from "../rig/find-chromium.ts";
import { type Payer, clickPay, paymentsOf } from "../rig/open-checkout.ts";
import { useCheckout } from "../rig/use-checkout.ts";
import { never } from "../rig/wallet.ts";

const { describe, test } = needingChromium();

const firstLoadBytesMax = 40 * 1024;
const units = 1_000_000n;

const rig = useCheckout();

const openPaid = async (tab: Payer): Promise<void> => {
  await rig.chain.pay({ ...tab.link, amount: 25n * units });
  await rig.chain.mine(3);
  await rig.system.showWhen(tab.link.id, ({ status }) => status === "completed");
  await tab.goTo(tab.link.pageUrl);
};

const openReceipt = async (tab: Payer): Promise<void> => {
  await openPaid(tab);
  const href = await tab.page.getByRole("link", { name: /^Receipt/ }).getAttribute("href");
  await tab.goTo(`${rig.system.publicUrl}${new URL(href ?? "").pathname}`);
  await tab.see("This payment has settled.");
};

/** How wide the page is, and its window. */
const findWidths = (page: Page) =>
  page.evaluate("[document.documentElement.scrollWidth, innerWidth]");

/** Each state of the page that a payer may see, and how it comes about. */
const states: [string, (tab: Payer) => Promise<unknown>][] = [
  ["open", async (tab) => tab.see("Pay 25 USDC")],
  ["its details", async (tab) => tab.page.getByText("Details", { exact: true }).click()],
  [
    "the choice of a wallet",
    async (tab) => {
      await clickPay(tab);
      await tab.see("Choose a wallet");
    },
  ],
  [
    "a wallet that was asked, and the question whether the payment is gone",
    async (tab) => {
      for (const wallet of tab.wallets) wallet.decide("eth_sendTransaction", never);
      await clickPay(tab);
      await tab.click("One");
      const isAsked = () => tab.wallets.flatMap(paymentsOf).length === 1;
      await waitUntil("the wallet's question", isAsked);
      await tab.page.reload();
      await tab.click("It never arrived, or was cancelled");
      await tab.see("Is the first payment really gone?");
    },
  ],
  [
    "paid",
    async (tab) => {
      await openPaid(tab);
      await tab.see("This payment link has been paid.");
    },
  ],
  [
    "the receipt",
    async (tab) => {
      await openReceipt(tab);
    },
  ],
  [
    "what it is, to whoever has no link",
    async (tab) => {
      await tab.goTo(rig.system.publicUrl);
      await tab.see("Open the console");
    },
  ],
  [
    "that nothing is there",
    async (tab) => {
      await tab.goTo(`${rig.system.publicUrl}/nothing`);
      await tab.see("There is nothing at this address.");
    },
  ],
];

const looks = (["light", "dark"] as const).flatMap((colorScheme) =>
  states.flatMap(([name, reach]) =>
    [320, 1280].map((width) => ({ name, colorScheme, width, reach })),
  ),
);

describe("the checkout", () => {
  test.each(looks)(
    "at $width px in $colorScheme shows $name without a fault of axe, and nothing beside the window",
    async ({ colorScheme, width, reach }) => {
      const tab = await rig.openPayer(
        { toAmount: "25", walletNames: ["One", "Two"] },
        { colorScheme, viewport: { width, height: 568 } },
      );
      await tab.goTo(tab.link.pageUrl);
      await reach(tab);
      expect(await findAxeFaults(tab.page)).toEqual([]);
      expect(await findWidths(tab.page)).toEqual([width, width]);
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

const image = "https://images.test/a.png";

/** As much as an owner may say, of the worst kind. */
const hostile = {
  username: `\u202e<script>${"W".repeat(90)}`,
  bio: "\u200b😀".repeat(250),
  profileImage: image,
  backgroundImage: image,
  links: [`https://example.test/${"x".repeat(2000)}`],
};

/** One pixel, whatever the image; the service that has them is not there. */
const png = Buffer.from(
  "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mP8z8DwHwAFBQIAX8jx0gAAAABJRU5ErkJggg==",
  "base64",
);
const showImages = ({ page }: Payer) =>
  page.route("**/checkout/images/**", (route) =>
    route.fulfill({ body: png, contentType: "image/png" }),
  );

/** What people may say of themselves and of a link, in the worst ways, each as long as it may be. */
const sayings: [string, { username: string; bio: string; description: string }][] = [
  [
    "a script",
    {
      username: `<script>alert(1)</script>`,
      bio: `"><img src=x onerror=alert(1)>`,
      description: `</p></main><script>alert(1)</script><style>*{display:none}</style>`,
    },
  ],
  [
    "text that is turned round",
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
    "characters without a width",
    {
      username: `a${"\u200b".repeat(98)}b`,
      bio: "\u200b\u2060\ufeff".repeat(160),
      description: `${"\u200d".repeat(499)}x`,
    },
  ],
  [
    "words without an end",
    { username: "W".repeat(100), bio: "W".repeat(500), description: "W".repeat(500) },
  ],
  [
    "letters in towers, and lines",
    {
      username: `a${"\u0301".repeat(99)}`,
      bio: `a${"\u0330".repeat(499)}`,
      description: `a${"\u0301".repeat(99)}${"\n".repeat(300)}b`,
    },
  ],
];

/** Where the page's own elements are. */
const boxesOf = async ({ page }: Payer) => {
  const own = [
    page.getByRole("button", { name: "Pay 25 USDC" }),
    page.getByRole("heading", { level: 1 }),
    page.getByText("Details", { exact: true }),
  ];
  const boxes = await Promise.all(own.map((one) => one.boundingBox()));
  return boxes.map((box) => box ?? { x: NaN, y: NaN, width: NaN, height: NaN });
};

describe("a browser without a wallet", () => {
  const devices: [string, BrowserContextOptions, { isQr: boolean; isApps: boolean }][] = [
    ["a computer", { viewport: { width: 1280, height: 900 } }, { isQr: true, isApps: false }],
    [
      "a computer's small window",
      { viewport: { width: 320, height: 568 } },
      { isQr: false, isApps: false },
    ],
    [
      "a phone",
      { viewport: { width: 320, height: 568 }, isMobile: true, hasTouch: true },
      { isQr: false, isApps: true },
    ],
  ];
  const cases = devices.flatMap(([device, options, shown]) =>
    (["light", "dark"] as const).flatMap((colorScheme) =>
      [true, false].map((javaScriptEnabled) => ({
        device,
        options,
        shown,
        colorScheme,
        javaScriptEnabled,
      })),
    ),
  );

  test.each(cases)(
    "on $device in $colorScheme (script: $javaScriptEnabled) is led on by what fits the device",
    async ({ options, shown, colorScheme, javaScriptEnabled }) => {
      const { link } = await rig.openPayer({ toAmount: "25" });
      const person = await rig.openPerson({ ...options, colorScheme, javaScriptEnabled });
      const { goTo, page, see } = await person.openTab();
      await goTo(link.pageUrl);
      await see(javaScriptEnabled ? "There is no wallet in this browser." : "To pay by hand");
      const qr = page.getByRole("img", { name: "QR code of this page's address" });
      const apps = page.getByRole("link", { name: "Open in MetaMask" });
      expect({ isQr: await qr.isVisible(), isApps: await apps.isVisible() }).toEqual(shown);
      if (shown.isQr) {
        const isDrawn = () =>
          page.evaluate<boolean>(
            "[...document.images].some(({ src, naturalWidth }) => /\\/qr\\//.test(src) && naturalWidth > 0)",
          );
        await waitUntil("the QR code", isDrawn);
      }
      expect(await findWidths(page)).toEqual([options.viewport?.width, options.viewport?.width]);
      // Without a script axe cannot be asked; the page is the same but for its words.
      if (javaScriptEnabled) expect(await findAxeFaults(page)).toEqual([]);
    },
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
  const viewport = { width: 320, height: 568 };
  const images = { profileImage: image, backgroundImage: image };
  const openSaying = async (owner: object, description: string) => {
    const payer = await rig.openPayer({ toAmount: "25", description, owner }, { viewport });
    await showImages(payer);
    await payer.goTo(payer.link.pageUrl);
    await payer.see("Pay 25 USDC");
    return payer;
  };

  test.each(sayings)(
    "is %s: it stands there as text and displaces nothing of the page",
    async (_name, { description, ...said }) => {
      const plain = await boxesOf(await openSaying({ ...images, username: "Owner" }, "Words"));
      const links = [`https://example.test/${"x".repeat(2000)}`];
      const payer = await openSaying({ ...images, ...said, links }, description);
      const shown = await payer.page.evaluate<string[]>(
        `[".name", ".bio", ".description", ".links"].map((name) =>
          document.querySelector(name).textContent.trim())`,
      );
      expect(shown).toEqual([said.username, said.bio, description, ...links].map((t) => t.trim()));
      expect(await findWidths(payer.page)).toEqual([320, 320]);
      const [pay, amount, details] = await boxesOf(payer);
      const [plainPay, plainAmount, plainDetails] = plain;
      // A name may take a second line, and no more.
      const lineHeight = 24;
      for (const [box, at] of [
        [pay, plainPay],
        [amount, plainAmount],
      ] as const) {
        const lower = (box?.y ?? NaN) - (at?.y ?? NaN);
        expect([0, lineHeight]).toContain(lower);
        expect(box).toEqual({ ...at, y: (at?.y ?? NaN) + lower });
      }
      expect(details).toEqual({ ...plainDetails, y: details?.y });
      // Marks in towers are painted where they belong, and over nothing else.
      const overflows = await payer.page.evaluate<string[]>(
        `[".name", ".bio", ".description", ".links"].map((name) =>
          getComputedStyle(document.querySelector(name)).overflow)`,
      );
      expect(overflows).toEqual(overflows.map(() => "hidden"));
      expect(await findAxeFaults(payer.page)).toEqual([]);
    },
  );
});

describe("what people say on a receipt", () => {
  test.each(sayings.filter(([name]) => /emoji|end|turned/.test(name)))(
    "is %s: it stands there as text, and nothing beside the window",
    async (_name, { description, ...owner }) => {
      const payer = await rig.openPayer(
        { toAmount: "25", description, owner },
        { viewport: { width: 320, height: 568 } },
      );
      await openReceipt(payer);
      const shown = await payer.page.evaluate<string[]>(`[".name", ".bio", ".description"].map(
        (name) => document.querySelector(name).textContent.trim())`);
      const said = [owner.username, owner.bio, description];
      expect(shown).toEqual(said.map((text) => text.trim()));
      expect(await findWidths(payer.page)).toEqual([320, 320]);
    },
  );
});

describe("a receipt on paper", () => {
  test("is black on white also from a dark screen, without what only a screen needs", async () => {
    const payer = await rig.openPayer(
      { toAmount: "25", owner: { backgroundColour: "#1f4fd8" } },
      { colorScheme: "dark", locale: "en-US", timezoneId: "Asia/Tokyo" },
    );
    await openReceipt(payer);
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
  test.each(["#ffff00", "#000000", "#1f4fd8"])(
    "%s is the ground of the page, and no text stands on it (rule API-32)",
    async (backgroundColour) => {
      for (const colorScheme of ["light", "dark"] as const) {
        const payer = await rig.openPayer(
          { toAmount: "25", owner: { backgroundColour } },
          { colorScheme, viewport: { width: 1280, height: 800 } },
        );
        await payer.goTo(payer.link.pageUrl);
        await payer.see("Pay 25 USDC");
        const ground = await payer.page.locator(".ground").boundingBox();
        expect(ground).toEqual({ x: 0, y: 0, width: 1280, height: 800 });
        const inFront = await payer.page.evaluate<string>(`
          document.elementFromPoint(innerWidth / 2, innerHeight / 3).closest(".card, .ground")
            ?.getAttribute("class")`);
        expect(inFront).toBe("card");
        const textBeside = await payer.page.evaluate<string>(`
          document.querySelector(".card").remove(), document.body.innerText.trim()`);
        expect(textBeside).toBe("");
        await payer.goTo(payer.link.pageUrl);
        expect(await findAxeFaults(payer.page)).toEqual([]);
      }
    },
  );
});

describe("the checkout on a phone", () => {
  test("has its one action in sight without scrolling, whatever its owner and link say", async () => {
    const payer = await rig.openPayer(
      { toAmount: "25", description: "so many words ".repeat(35), owner: hostile },
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
