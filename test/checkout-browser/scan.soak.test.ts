import { useRig } from "@payment-links/runtime/testing/use-rig";
import { requireBtcd } from "@payment-links/settlement-listener/testing/require-btcd";
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

  test("is read at twice the size of its text, with nothing that moves by itself", () =>
    expectLargeAndStill(rig));
});

// A chromium and a btcd, each of which may be missing.
const describeBitcoin = hasChromium ? btcd.describe : describe;
describeBitcoin("a link on Bitcoin", () => {
  const family = createBitcoinFamily(btcd.program);
  const rig = useRig(() => createScannedCheckout(family));

  test("is told in German, on the smallest phone and by keyboard, without an overhang", () =>
    expectGermanOnSmallPhone(rig));

  test("is read at twice the size of its text, with nothing that moves by itself", () =>
    expectLargeAndStill(rig));
});
