import { createHash } from "node:crypto";
import { readFile } from "node:fs/promises";
import { createRequire } from "node:module";
import { expect, test } from "@jest/globals";
import {
  parseTransactionSender,
  parseHeader,
  parseIndexedLogs,
  parseReceipt,
} from "../../evm/reads/rpc-results.ts";

const require = createRequire(import.meta.url);
const text = await readFile(
  require.resolve("@payment-links/local-chains/tron/recorded/nile-block.json"),
  "utf8",
);
/** The documentation shortens long values. This restores their full length. */
const completeText = text
  .replaceAll('"0x0000...0000"', `"0x${"0".repeat(512)}"`)
  .replaceAll('"0x0000...05f"', `"0x${"05f".padStart(64, "0")}"`)
  .replaceAll("0000...0000", "");
const { block, receipt } = JSON.parse(completeText);

test("the EVM parsers accept responses of Nile's java-tron", () => {
  const { hash, parentHash, logsBloom } = block;
  expect(parseHeader(block)).toEqual({
    number: 66_985_120,
    hash,
    parentHash,
    timestampSeconds: 0x69_f1_8c_42,
    logsBloom,
  });
  // The nonce is eight zero bytes, because Tron has no nonces.
  const [transaction] = block.transactions;
  expect(parseTransactionSender(transaction)).toEqual({
    transactionHash: transaction.hash,
    address: transaction.from,
    nonce: 0,
  });
  const [log] = receipt.logs;
  const { address, topics, data } = log;
  expect(parseReceipt(new Set([address]))(receipt)).toEqual({
    transactionHash: transaction.hash,
    blockNumber: 66_985_120,
    blockHash: hash,
    isSuccessful: true,
    from: transaction.from,
    logs: [{ address, topics, data }],
    otherLogsDigest: sha256(""),
  });
  expect(parseIndexedLogs(receipt.logs)).toMatchObject([
    { blockNumber: 66_985_120, logIndex: 0, removed: false, transactionHash: transaction.hash },
  ]);
});

const sha256 = (text: string): string => createHash("sha256").update(text).digest("hex");
