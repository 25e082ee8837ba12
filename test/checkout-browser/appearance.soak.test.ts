import { expect } from "@jest/globals";
import {
  devicesWithoutWallet,
  expectColorBehindContent,
  expectAccessibleLayout,
  expectAlternativesShown,
  expectRenderedAsText,
  findWidths,
  checkoutStates,
  openReceiptPage,
  hostileTexts,
} from "../rig/checkout-states.ts";
import { requireChromium } from "../rig/require-chromium.ts";
import { useCheckout } from "../rig/use-checkout.ts";

const { describe, test } = requireChromium();

const rig = useCheckout();

describe("the checkout", () => {
  test.each(checkoutStates)(
    "at $width px in $colorScheme shows $name without a fault of axe, and nothing beside the window",
    (state) => expectAccessibleLayout(rig, state),
  );
});

describe("a browser without a wallet", () => {
  test.each(devicesWithoutWallet)(
    "on $device in $colorScheme (script: $javaScriptEnabled) is led on by what fits the device",
    (device) => expectAlternativesShown(rig, device),
  );
});

describe("what people say", () => {
  test.each(hostileTexts)(
    "is %s: it stands there as text and displaces nothing of the page",
    (_name, texts) => expectRenderedAsText(rig, texts),
  );
});

describe("what people say on a receipt", () => {
  test.each(hostileTexts.filter(([name]) => /emoji|end|turned/.test(name)))(
    "is %s: it stands there as text, and nothing beside the window",
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

describe("an owner's colour", () => {
  test.each(["#ffff00", "#000000"])(
    "%s is the ground of the page, and no text stands on it (rule API-32)",
    (backgroundColour) => expectColorBehindContent(rig, backgroundColour),
  );
});
