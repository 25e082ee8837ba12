import { appendFile, readFile, rename, writeFile } from "node:fs/promises";
import * as z from "zod";
import type { Btcd } from "./start-btcd.ts";

const TextResult = z.string();

/**
 * Stores the blocks of a chain in a file, because btcd deletes its regtest chain at every start.
 * Each line contains one block and its hash.
 */
export const openBlockJournal = async (node: Btcd, file: string) => {
  const lines = await readLines(file);
  for (const { hex } of lines) await node.callRpc("submitblock", hex);
  const hashes = lines.map(({ hash }) => hash);

  /**
   * Appends the blocks that are not in the file yet. The blocks of a fork replace the orphaned
   * ones.
   */
  const record = async (): Promise<void> => {
    const height = z.number().parse(await node.callRpc("getblockcount"));
    const readBlockHash = async (blockNumber: number) =>
      TextResult.parse(await node.callRpc("getblockhash", blockNumber));
    let commonHeight = Math.min(hashes.length, height);
    while (commonHeight > 0 && (await readBlockHash(commonHeight)) !== hashes[commonHeight - 1])
      commonHeight -= 1;
    const isFork = commonHeight < hashes.length;
    hashes.length = commonHeight;
    const added: string[] = [];
    for (let blockNumber = commonHeight + 1; blockNumber <= height; blockNumber += 1) {
      const hash = await readBlockHash(blockNumber);
      hashes.push(hash);
      added.push(`${hash} ${TextResult.parse(await node.callRpc("getblock", hash, 0))}\n`);
    }
    if (!isFork) return await appendFile(file, added.join(""));
    const unchangedLines = (await readFile(file, "utf8")).split("\n").slice(0, commonHeight);
    await writeFile(
      `${file}.draft`,
      [...unchangedLines.map((line) => `${line}\n`), ...added].join(""),
    );
    await rename(`${file}.draft`, file);
  };
  return { record };
};

/**
 * Reads the complete lines. Removes an incomplete last line, which remains if a process is killed
 * while it writes.
 */
const readLines = async (file: string): Promise<{ hash: string; hex: string }[]> => {
  const text = await readFile(file, "utf8").catch(() => "");
  const completeLines = text.slice(0, text.lastIndexOf("\n") + 1);
  if (completeLines !== text) await writeFile(file, completeLines);
  return completeLines
    .split("\n")
    .filter((line) => line !== "")
    .map((line) => {
      const [hash = "", hex = ""] = line.split(" ");
      return { hash, hex };
    });
};
