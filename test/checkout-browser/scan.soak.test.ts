import { useRig } from "@payment-links/runtime/testing/use-rig";
import { requireBtcd } from "@payment-links/local-chains/testing/require-btcd";
import { requireChromium } from "../rig/require-chromium.ts";
import {
  createBitcoinFamily,
  expectGermanOnSmallPhone,
  expectLargeAndStill,
  createScannedCheckout,
  solana,
} from "../rig/scanned-links.ts";

const { isAvailable: hasChromium, describe, test } = requireChromium();
const btcd = await requireBtcd();

describe("a link on Solana", () => {
  const rig = useRig(() => createScannedCheckout(solana));

  test("is readable at twice the text size, without any animation", () => expectLargeAndStill(rig));
});

// Requires Chromium and btcd. Skips the tests if one of them is missing.
const describeBitcoin = hasChromium ? btcd.describe : describe;
describeBitcoin("a link on Bitcoin", () => {
  const family = createBitcoinFamily(btcd.program);
  const rig = useRig(() => createScannedCheckout(family));

  test("fits the smallest phone in German and works by keyboard", () =>
    expectGermanOnSmallPhone(rig));

  test("is readable at twice the text size, without any animation", () => expectLargeAndStill(rig));
});
