import { beforeAll } from "@jest/globals";
import { createLazyProxy } from "@payment-links/runtime/testing/use-rig";
import { getSharedRig } from "../jest/shared-rigs.ts";

/**
 * What all test files of a folder use, one file after the other: opened by the first of them, closed
 * with their process. Each test must leave it as it found it. Its members exist once the tests run.
 */
export const useSharedRig = <Rig extends { close(): unknown }>(
  name: string,
  createRig: () => Promise<Rig>,
): Rig => {
  let rig: Rig | undefined;
  beforeAll(async () => {
    rig = await getSharedRig(name, createRig);
  });
  return createLazyProxy(() => rig);
};
