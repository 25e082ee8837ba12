import { appendFile, readFile, rename, writeFile } from "node:fs/promises";
import * as z from "zod";
import type { Btcd } from "./start-btcd.ts";

const Text = z.string();

/**
 * The blocks of a chain in a file, one a line with its hash: btcd throws its regtest chain away
 * whenever it starts.
 */
export const openBlockJournal = async (node: Btcd, file: string) => {
  const lines = await readLines(file);
  for (const { hex } of lines) await node.ask("submitblock", hex);
  const hashes = lines.map(({ hash }) => hash);

  /** Writes what the chain has and the file has not; a fork's blocks replace those that lost. */
  const record = async (): Promise<void> => {
    const height = z.number().parse(await node.ask("getblockcount"));
    const hashAt = async (at: number) => Text.parse(await node.ask("getblockhash", at));
    let kept = Math.min(hashes.length, height);
    while (kept > 0 && (await hashAt(kept)) !== hashes[kept - 1]) kept -= 1;
    const isFork = kept < hashes.length;
    hashes.length = kept;
    const added: string[] = [];
    for (let at = kept + 1; at <= height; at += 1) {
      const hash = await hashAt(at);
      hashes.push(hash);
      added.push(`${hash} ${Text.parse(await node.ask("getblock", hash, 0))}\n`);
    }
    if (!isFork) return await appendFile(file, added.join(""));
    const before = (await readFile(file, "utf8")).split("\n").slice(0, kept);
    await writeFile(`${file}.draft`, [...before.map((line) => `${line}\n`), ...added].join(""));
    await rename(`${file}.draft`, file);
  };
  return { record };
};

/** A line of which half was written, by a process that was killed, is left aside. */
const readLines = async (file: string): Promise<{ hash: string; hex: string }[]> => {
  const text = await readFile(file, "utf8").catch(() => "");
  const whole = text.slice(0, text.lastIndexOf("\n") + 1);
  if (whole !== text) await writeFile(file, whole);
  return whole
    .split("\n")
    .filter((line) => line !== "")
    .map((line) => {
      const [hash = "", hex = ""] = line.split(" ");
      return { hash, hex };
    });
};
