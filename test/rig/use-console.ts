import { afterEach } from "@jest/globals";
import { createConsole } from "./create-console.ts";
import { useSharedRig } from "./use-shared-rig.ts";

export type Console = Awaited<ReturnType<typeof createConsole>>;
/** Somebody who is signed in to the console. */
export type ConsoleUser = Awaited<ReturnType<Console["signUp"]>>;

/** One console for all files of a process. Each test signs up persons of its own. */
export const useConsole = (): Console => {
  const system = useSharedRig("console", createConsole);
  afterEach(() => system.closeUsers());
  return system;
};
