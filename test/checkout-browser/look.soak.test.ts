import { expect } from "@jest/globals";
import {
  devicesWithoutWallet,
  expectColourBehind,
  expectGoodLook,
  expectLedOn,
  expectShownAsText,
  findWidths,
  looks,
  openReceipt,
  sayings,
} from "../rig/checkout-looks.ts";
import { needingChromium } from "../rig/find-chromium.ts";
import { useCheckout } from "../rig/use-checkout.ts";

const { describe, test } = needingChromium();

const rig = useCheckout();

describe("the checkout", () => {
  test.each(looks)(
    "at $width px in $colorScheme shows $name without a fault of axe, and nothing beside the window",
    (look) => expectGoodLook(rig, look),
  );
});

describe("a browser without a wallet", () => {
  test.each(devicesWithoutWallet)(
    "on $device in $colorScheme (script: $javaScriptEnabled) is led on by what fits the device",
    (device) => expectLedOn(rig, device),
  );
});

describe("what people say", () => {
  test.each(sayings)(
    "is %s: it stands there as text and displaces nothing of the page",
    (_name, said) => expectShownAsText(rig, said),
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
      await openReceipt(rig, payer);
      const shown = await payer.page.evaluate<string[]>(`[".name", ".bio", ".description"].map(
        (name) => document.querySelector(name).textContent.trim())`);
      const said = [owner.username, owner.bio, description];
      expect(shown).toEqual(said.map((text) => text.trim()));
      expect(await findWidths(payer.page)).toEqual([320, 320]);
    },
  );
});

describe("an owner's colour", () => {
  test.each(["#ffff00", "#000000"])(
    "%s is the ground of the page, and no text stands on it (rule API-32)",
    (backgroundColour) => expectColourBehind(rig, backgroundColour),
  );
});
