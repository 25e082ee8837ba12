import { readFile } from "node:fs/promises";
import { expect, test } from "@jest/globals";
import { parseBlock, parseSignatureInfos, parseTransaction } from "./rpc-results.ts";

const recorded = JSON.parse(
  await readFile(new URL("recorded/solana-docs.json", import.meta.url), "utf8"),
);

test("parseTransaction parses a devnet transaction that created a token account, with its inner instructions and balances", () => {
  const { transaction, meta } = recorded.transaction.result;
  const { accountKeys, instructions } = transaction.message;
  const parsed = parseTransaction(recorded.transaction.result);
  expect(parsed).toMatchObject({
    signature: transaction.signatures[0],
    slot: 423_118_809,
    timestampSeconds: 1_763_751_415,
    isSuccessful: true,
    keys: accountKeys,
    signerCount: 1,
  });
  // One instruction, followed by the four inner instructions that its program called.
  expect(parsed?.instructions.map(({ data }) => data)).toEqual([
    instructions[0].data,
    ...meta.innerInstructions[0].instructions.map(({ data }: { data: string }) => data),
  ]);
  expect(parsed?.balances).toEqual([
    {
      accountIndex: 1,
      mint: accountKeys[3],
      owner: accountKeys[0],
      program: accountKeys[5],
      before: "0",
      after: "0",
    },
  ]);
});

test("a listed signature may lack a time, but a block must have one, because it decides what is late", () => {
  const [signatureInfo] = recorded.signatures.result;
  expect(parseSignatureInfos(recorded.signatures.result)).toEqual([
    {
      signature: signatureInfo.signature,
      slot: 114,
      isSuccessful: true,
      timestampSeconds: undefined,
    },
  ]);
  const block = recorded.blockWithoutTime.result;
  expect(() => parseBlock(block)).toThrow();
  expect(parseBlock({ ...block, blockTime: 1_763_751_415 })).toEqual({
    hash: block.blockhash,
    parentHash: block.previousBlockhash,
    timestampSeconds: 1_763_751_415,
    height: 428,
  });
});
