import { afterEach } from "@jest/globals";
import { openConsole } from "./open-console.ts";
import { useSharedRig } from "./use-shared-rig.ts";

export type Console = Awaited<ReturnType<typeof openConsole>>;
/** Somebody who is signed in to the console. */
export type ConsolePerson = Awaited<ReturnType<Console["signUp"]>>;

/** One console for all files of a process. Each test signs up persons of its own. */
export const useConsole = (): Console => {
  const system = useSharedRig("console", openConsole);
  afterEach(() => system.closePersons());
  return system;
};
