import { afterEach, expect } from "@jest/globals";
import { useRig } from "@payment-links/runtime/testing/use-rig";
import { type Checkout, createCheckout } from "./create-checkout.ts";
import { useSharedRig } from "./use-shared-rig.ts";

type ClosableRig = { close(): Promise<void>; closeUsers(): Promise<string[]> };

/**
 * Expects after each test that there were no violations of the content security policy and no
 * requests to other origins.
 */
const closeUsersAfterEach = <Rig extends ClosableRig>(rig: Rig): Rig => {
  afterEach(async () => {
    expect(await rig.closeUsers()).toEqual([]);
  });
  return rig;
};

/**
 * Creates the rig that all tests of a file share. Without Chromium, all tests are skipped and the
 * rig is not started.
 */
export const usePayersRig = <Rig extends ClosableRig>(createRig: () => Promise<Rig>): Rig =>
  closeUsersAfterEach(useRig(createRig));

/** Creates the rig on an EVM chain, for test files that pay their links in their own way. */
export const useOwnCheckout = (options: Parameters<typeof createCheckout>[0]): Checkout =>
  usePayersRig(() => createCheckout(options));

/**
 * Creates the rig on an EVM chain. All test files of a process share it. Each test must leave
 * automine enabled on the chain.
 */
export const useCheckout = (): Checkout =>
  closeUsersAfterEach(useSharedRig("checkout", createCheckout));
