import { appendFileSync, readFileSync, writeFileSync } from "node:fs";
import * as z from "zod";
import type { Ledger } from "./create-ledger.ts";

const Line = z.object({
  slot: z.int(),
  timeSeconds: z.int(),
  transactions: z.array(z.string()),
});

/**
 * Stores the blocks of a chain in a file, one per line. The same transactions in the same slots
 * always produce the same chain, so only these are stored. A stored chain cannot have forks.
 */
export const openBlockJournal = (ledger: Ledger, file: string) => {
  for (const { slot, timeSeconds, transactions } of readLines(file)) {
    ledger.skip(slot - ledger.head().slot - 1);
    ledger.setNextBlockTime(timeSeconds);
    ledger.produce(transactions.map((text) => new Uint8Array(Buffer.from(text, "base64"))));
  }
  let lastWritten = ledger.head();
  /** Appends the new blocks. */
  const record = (): void => {
    if (ledger.blocks[lastWritten.height] !== lastWritten) {
      throw new Error("a chain stored in a file cannot fork");
    }
    const lines = ledger.blocks
      .slice(lastWritten.height + 1)
      .map(({ slot, timeSeconds, transactions }) => ({
        slot,
        timeSeconds,
        transactions: transactions.map(({ bytes }) => Buffer.from(bytes).toString("base64")),
      }));
    appendFileSync(file, lines.map((line) => `${JSON.stringify(line)}\n`).join(""));
    lastWritten = ledger.head();
  };
  return { record };
};

/**
 * Reads the complete lines. Removes an incomplete last line, which remains if a process is killed
 * while it writes.
 */
const readLines = (file: string): z.infer<typeof Line>[] => {
  writeFileSync(file, "", { flag: "a" });
  const text = readFileSync(file, "utf8");
  const completeLines = text.slice(0, text.lastIndexOf("\n") + 1);
  if (completeLines !== text) writeFileSync(file, completeLines);
  return completeLines
    .split("\n")
    .filter((line) => line !== "")
    .map((line) => Line.parse(JSON.parse(line)));
};
