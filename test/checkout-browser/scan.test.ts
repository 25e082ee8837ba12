import { useRig } from "@payment-links/runtime/testing/use-rig";
import { needingBtcd } from "@payment-links/settlement-listener/testing/needing-btcd";
import { needingChromium } from "../rig/find-chromium.ts";
import {
  bitcoinBy,
  expectGermanOnSmallPhone,
  expectPaidByScan,
  openScanned,
  solana,
} from "../rig/scanned-links.ts";

const { isThere, describe, test } = needingChromium();
const btcd = await needingBtcd();

describe("a link on Solana", () => {
  const rig = useRig(() => openScanned(solana));

  test("is paid by the request that the page shows, and the page follows it without a reload", () =>
    expectPaidByScan(rig, solana));

  test("is told in German, on the smallest phone and by keyboard, without an overhang", () =>
    expectGermanOnSmallPhone(rig));
});

// A chromium and a btcd, each of which may be missing.
const describeBitcoin = isThere ? btcd.describe : describe;
describeBitcoin("a link on Bitcoin", () => {
  const family = bitcoinBy(btcd.program);
  const rig = useRig(() => openScanned(family));

  test("is paid by the request that the page shows, and the page follows it without a reload", () =>
    expectPaidByScan(rig, family));
});
