import { afterEach, expect } from "@jest/globals";
import { useRig } from "@payment-links/runtime/testing/use-rig";
import { type Checkout, openCheckout } from "./open-checkout.ts";

type Closed = { close(): Promise<void>; closePersons(): Promise<string[]> };

/**
 * What all tests of a file stand on. After each of them nothing was stopped by the policy or asked
 * elsewhere. Without a Chromium all are skipped, and nothing is opened.
 */
export const usePayers = <Rig extends Closed>(open: () => Promise<Rig>): Rig => {
  const rig = useRig(open);
  afterEach(async () => {
    expect(await rig.closePersons()).toEqual([]);
  });
  return rig;
};

/** The same on EVM. */
export const useCheckout = (options: Parameters<typeof openCheckout>[0] = {}): Checkout =>
  usePayers(() => openCheckout(options));
