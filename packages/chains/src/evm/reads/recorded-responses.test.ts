import { createHash } from "node:crypto";
import { readFile } from "node:fs/promises";
import { expect, test } from "@jest/globals";
import { classifyError } from "./classify-error.ts";
import {
  parseTransactionSender,
  parseHeader,
  parseIndexedLogs,
  parseReceipt,
} from "./rpc-results.ts";

const recorded = JSON.parse(
  await readFile(new URL("recorded/execution-apis.json", import.meta.url), "utf8"),
);

test("the parsers accept geth's responses from its specification's tests", () => {
  const block = recorded.finalizedBlock.result;
  const { hash, parentHash, logsBloom } = block;
  expect(parseHeader(block)).toEqual({
    number: 20,
    hash,
    parentHash,
    timestampSeconds: 200,
    logsBloom,
  });
  const [transaction] = block.transactions;
  expect(parseTransactionSender(transaction)).toEqual({
    transactionHash: transaction.hash,
    address: transaction.from,
    nonce: 70,
  });
  const [log] = recorded.logsOfBlock.result;
  const { address, topics, data, blockHash, transactionHash } = log;
  expect(parseIndexedLogs(recorded.logsOfBlock.result)).toEqual([
    {
      address,
      topics,
      data,
      blockHash,
      transactionHash,
      blockNumber: 4,
      logIndex: 0,
      removed: false,
      timestampSeconds: 40,
    },
  ]);
  const receipt = recorded.receipt.result;
  expect(parseReceipt(new Set())(receipt)).toEqual({
    transactionHash: receipt.transactionHash,
    blockNumber: 1,
    blockHash: receipt.blockHash,
    isSuccessful: true,
    from: receipt.from,
    logs: [],
    otherLogsDigest: sha256(""),
  });
});

test("two receipts that differ only in an unrelated log are different evidence", () => {
  const [log] = recorded.logsOfBlock.result;
  const computeDigest = (data: string) => {
    const receipt = { ...recorded.receipt.result, logs: [{ ...log, data }] };
    return parseReceipt(new Set())(receipt)?.otherLogsDigest;
  };
  expect(computeDigest("0x01")).toBe(computeDigest("0x01"));
  expect(computeDigest("0x01")).not.toBe(computeDigest("0x02"));
});

test("classifyError classifies geth's error for a reversed range as range, not as an empty result", () => {
  const { error } = recorded.reversedRange;
  expect(classifyError("eth_getLogs", { ...error, status: 200 })).toBe("range");
});

const sha256 = (text: string): string => createHash("sha256").update(text).digest("hex");
