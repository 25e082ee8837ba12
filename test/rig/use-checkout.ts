import { afterEach, expect } from "@jest/globals";
import { useRig } from "@payment-links/runtime/testing/use-rig";
import { type Checkout, openCheckout } from "./open-checkout.ts";
import { useSharedRig } from "./use-shared-rig.ts";

type Closed = { close(): Promise<void>; closePersons(): Promise<string[]> };

/** After each test nothing was stopped by the policy or asked elsewhere. */
const closePersonsAfterEach = <Rig extends Closed>(rig: Rig): Rig => {
  afterEach(async () => {
    expect(await rig.closePersons()).toEqual([]);
  });
  return rig;
};

/** What all tests of a file stand on. Without a Chromium all are skipped, and nothing is opened. */
export const usePayers = <Rig extends Closed>(open: () => Promise<Rig>): Rig =>
  closePersonsAfterEach(useRig(open));

/** The same on EVM for a file whose links are paid in its own way. */
export const useOwnCheckout = (options: Parameters<typeof openCheckout>[0]): Checkout =>
  usePayers(() => openCheckout(options));

/** The same on EVM for all files of a process. Each test leaves the chain with automatic blocks. */
export const useCheckout = (): Checkout =>
  closePersonsAfterEach(useSharedRig("checkout", openCheckout));
