import { useRig } from "@payment-links/runtime/testing/use-rig";
import { needingBtcd } from "@payment-links/settlement-listener/testing/needing-btcd";
import { needingChromium } from "../rig/find-chromium.ts";
import {
  bitcoinBy,
  expectGermanOnSmallPhone,
  expectLargeAndStill,
  openScanned,
  solana,
} from "../rig/scanned-links.ts";

const { isThere, describe, test } = needingChromium();
const btcd = await needingBtcd();

describe("a link on Solana", () => {
  const rig = useRig(() => openScanned(solana));

  test("is read at twice the size of its text, with nothing that moves by itself", () =>
    expectLargeAndStill(rig));
});

// A chromium and a btcd, each of which may be missing.
const describeBitcoin = isThere ? btcd.describe : describe;
describeBitcoin("a link on Bitcoin", () => {
  const family = bitcoinBy(btcd.program);
  const rig = useRig(() => openScanned(family));

  test("is told in German, on the smallest phone and by keyboard, without an overhang", () =>
    expectGermanOnSmallPhone(rig));

  test("is read at twice the size of its text, with nothing that moves by itself", () =>
    expectLargeAndStill(rig));
});
