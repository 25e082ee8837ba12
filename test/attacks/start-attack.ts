import { fork } from "node:child_process";
import { once } from "node:events";
import { constants, setPriority } from "node:os";
import { fileURLToPath } from "node:url";
import { getInheritedEnv } from "@payment-links/runtime/testing/inherited-env";
import type { AttackName } from "./attack-list.ts";
import { type Counts, createCounts } from "./counts.ts";
import type { Target } from "./target.ts";

const program = fileURLToPath(new URL("attacker-process.ts", import.meta.url));

/**
 * Starts an attack in its own low-priority process. A real attacker uses other machines, so this
 * process must not take CPU time from the product.
 */
export const startAttack = (name: AttackName, target: Target) => {
  const child = fork(program, [], {
    env: getInheritedEnv(),
    execArgv: ["--disable-warning=ExperimentalWarning"],
  });
  if (child.pid !== undefined) setPriority(child.pid, constants.priority.PRIORITY_LOW);
  let counts = createCounts();
  child.on("message", (message) => (counts = message as Counts));
  child.send({ name, target });
  return {
    /** Returns the attacker's current counts. */
    counts: (): Counts => {
      if (child.exitCode !== null) throw new Error(`the attack ${name} exited unexpectedly`);
      return counts;
    },
    /** Stops the attack and returns its counts. */
    stop: async (): Promise<Counts> => {
      const exit = once(child, "exit");
      if (child.connected) child.send("stop");
      await exit;
      return counts;
    },
  };
};
