import { type AttackName, attacks } from "./attack-list.ts";
import { createCounts } from "./counts.ts";
import type { Target } from "./target.ts";

// The attacker in a process of its own: one attack from its first message until its second, or until
// its parent is gone. It reports what it has counted all the time.
const reportMs = 200;
const counts = createCounts();
const stopController = new AbortController();

process.once("message", (message) => {
  const { name, target } = message as { name: AttackName; target: Target };
  attacks[name]({ counts, signal: stopController.signal, target });
  const timer = setInterval(() => process.send?.(counts), reportMs);
  process.once("message", () => {
    clearInterval(timer);
    stopController.abort();
    process.send?.(counts, () => process.disconnect());
  });
});
process.once("disconnect", () => process.exit(0));
