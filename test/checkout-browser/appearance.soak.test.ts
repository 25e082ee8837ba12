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
    "at $width px in $colorScheme shows $name with no axe violations and no horizontal overflow",
    (state) => expectAccessibleLayout(rig, state),
  );
});

describe("a browser without a wallet", () => {
  test.each(devicesWithoutWallet)(
    "on $device in $colorScheme (script: $javaScriptEnabled) offers the alternatives that fit the device",
    (device) => expectAlternativesShown(rig, device),
  );
});

describe("user-supplied text", () => {
  test.each(hostileTexts)(
    "with %s is shown as plain text and displaces nothing on the page",
    (_name, texts) => expectRenderedAsText(rig, texts),
  );
});

describe("user-supplied text on a receipt", () => {
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

describe("an owner's color", () => {
  test.each(["#ffff00", "#000000"])(
    "%s is the page background, and no text is placed directly on it (rule API-32)",
    (backgroundColour) => expectColorBehindContent(rig, backgroundColour),
  );
});
