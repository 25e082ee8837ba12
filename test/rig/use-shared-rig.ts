import { beforeAll } from "@jest/globals";
import { createLazyProxy } from "@payment-links/runtime/testing/use-rig";
import { getSharedRig } from "../jest/shared-rigs.ts";

/**
 * Returns a rig that all test files of a folder share, one file after the other. The first file
 * creates it, and it is closed with the process. Each test must restore the rig's state. The
 * members of the rig only exist while tests run.
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
