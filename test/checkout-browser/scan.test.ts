import { useRig } from "@payment-links/runtime/testing/use-rig";
import { requireBtcd } from "@payment-links/local-chains/testing/require-btcd";
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

  test("is paid by the request on the page, and the page updates without a reload", () =>
    expectPaidByScan(rig, solana));

  test("fits the smallest phone in German and works by keyboard", () =>
    expectGermanOnSmallPhone(rig));
});

// Requires Chromium and btcd. Skips the tests if one of them is missing.
const describeBitcoin = hasChromium ? btcd.describe : describe;
describeBitcoin("a link on Bitcoin", () => {
  const family = createBitcoinFamily(btcd.program);
  const rig = useRig(() => createScannedCheckout(family));

  test("is paid by the request on the page, and the page updates without a reload", () =>
    expectPaidByScan(rig, family));
});
