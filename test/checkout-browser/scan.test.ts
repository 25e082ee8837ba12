import { useRig } from "@payment-links/runtime/testing/use-rig";
import { requireBtcd } from "@payment-links/settlement-listener/testing/require-btcd";
import { requireChromium } from "../rig/require-chromium.ts";
import {
  createBitcoinFamily,
  expectGermanOnSmallPhone,
  expectPaidByScan,
  createScannedCheckout,
  solana,
} from "../rig/scanned-links.ts";

const { isAvailable: hasChromium, describe, test } = requireChromium();
const btcd = await requireBtcd();

describe("a link on Solana", () => {
  const rig = useRig(() => createScannedCheckout(solana));

  test("is paid by the request that the page shows, and the page follows it without a reload", () =>
    expectPaidByScan(rig, solana));

  test("is told in German, on the smallest phone and by keyboard, without an overhang", () =>
    expectGermanOnSmallPhone(rig));
});

// A chromium and a btcd, each of which may be missing.
const describeBitcoin = hasChromium ? btcd.describe : describe;
describeBitcoin("a link on Bitcoin", () => {
  const family = createBitcoinFamily(btcd.program);
  const rig = useRig(() => createScannedCheckout(family));

  test("is paid by the request that the page shows, and the page follows it without a reload", () =>
    expectPaidByScan(rig, family));
});
