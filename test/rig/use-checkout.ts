import { afterEach, expect } from "@jest/globals";
import { useRig } from "@payment-links/runtime/testing/use-rig";
import { type Checkout, createCheckout } from "./create-checkout.ts";
import { useSharedRig } from "./use-shared-rig.ts";

type ClosableRig = { close(): Promise<void>; closeUsers(): Promise<string[]> };

/** After each test nothing was stopped by the policy or asked elsewhere. */
const closeUsersAfterEach = <Rig extends ClosableRig>(rig: Rig): Rig => {
  afterEach(async () => {
    expect(await rig.closeUsers()).toEqual([]);
  });
  return rig;
};

/** What all tests of a file stand on. Without a Chromium all are skipped, and nothing is opened. */
export const usePayersRig = <Rig extends ClosableRig>(createRig: () => Promise<Rig>): Rig =>
  closeUsersAfterEach(useRig(createRig));

/** The same on EVM for a file whose links are paid in its own way. */
export const useOwnCheckout = (options: Parameters<typeof createCheckout>[0]): Checkout =>
  usePayersRig(() => createCheckout(options));

/** The same on EVM for all files of a process. Each test leaves the chain with automatic blocks. */
export const useCheckout = (): Checkout =>
  closeUsersAfterEach(useSharedRig("checkout", createCheckout));
