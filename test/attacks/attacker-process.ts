import { type AttackName, attacks } from "./attack-list.ts";
import { createCounts } from "./counts.ts";
import type { Target } from "./target.ts";

// Runs one attack in its own process. The first message starts the attack. It runs until the second
// message or until the parent exits, and reports its counts at regular intervals.
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
