import { afterEach, expect } from "@jest/globals";
import { useRig } from "@payment-links/runtime/testing/use-rig";
import { type Checkout, createCheckout } from "./create-checkout.ts";
import { useSharedRig } from "./use-shared-rig.ts";

type ClosableRig = { close(): Promise<void>; closeUsers(): Promise<string[]> };

/** Expects after each test that the content security policy blocked nothing and no request went elsewhere. */
const closeUsersAfterEach = <Rig extends ClosableRig>(rig: Rig): Rig => {
  afterEach(async () => {
    expect(await rig.closeUsers()).toEqual([]);
  });
  return rig;
};

/**
 * Creates the rig that all tests of a file share. Without Chromium, all tests are skipped and
 * nothing is started.
 */
export const usePayersRig = <Rig extends ClosableRig>(createRig: () => Promise<Rig>): Rig =>
  closeUsersAfterEach(useRig(createRig));

/** The same on EVM, for test files that pay their links in their own way. */
export const useOwnCheckout = (options: Parameters<typeof createCheckout>[0]): Checkout =>
  usePayersRig(() => createCheckout(options));

/** The same on EVM, shared by all files of a process. Each test must leave the chain with automine on. */
export const useCheckout = (): Checkout =>
  closeUsersAfterEach(useSharedRig("checkout", createCheckout));
