import { afterEach, expect } from "@jest/globals";
import { useRig } from "@payment-links/runtime/testing/use-rig";
import { type Checkout, openCheckout } from "./open-checkout.ts";

/**
 * What all tests of a file stand on. After each of them nothing was stopped by the policy or asked
 * elsewhere. Without a Chromium all are skipped, and nothing is opened.
 */
export const useCheckout = (
  program: string | undefined,
  options: Parameters<typeof openCheckout>[1] = {},
): Checkout => {
  const rig = useRig(() => openCheckout(program ?? "", options));
  afterEach(async () => {
    expect(await rig.closePersons()).toEqual([]);
  });
  return rig;
};
