import { afterEach, expect } from "@jest/globals";
import { createConsole } from "./create-console.ts";
import { useSharedRig } from "./use-shared-rig.ts";

export type Console = Awaited<ReturnType<typeof createConsole>>;
/** A user who is signed in to the console. */
export type ConsoleUser = Awaited<ReturnType<Console["signUp"]>>;

/**
 * Returns one console for all files of a process. Each test signs up its own users. Expects after
 * each test that there were no violations of the content security policy and no requests to other
 * origins.
 */
export const useConsole = (): Console => {
  const system = useSharedRig("console", createConsole);
  afterEach(async () => {
    expect(await system.closeUsers()).toEqual([]);
  });
  return system;
};
