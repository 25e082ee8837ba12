import { createHash } from "node:crypto";
import { readFileSync } from "node:fs";
import { expect, test } from "@jest/globals";
import { RpcFault } from "../../rpc/rpc-fault.ts";
import { classifyError } from "./classify-error.ts";
import { canonicalBlockRequest, transactionRequest } from "./rpc-requests.ts";
import { parseRawHeader } from "./parse-raw.ts";

type Recorded = {
  getblockheader: Record<"hash" | "merkleroot" | "previousblockhash" | "bits", string> &
    Record<"version" | "time" | "nonce", number>;
  getrawtransaction: { txid: string; hash: string; hex: string; blockhash: string };
  unknownTransaction: { code: number; message: string };
};
const recordedFile = new URL("recorded/core-answers.json", import.meta.url);
const recorded = JSON.parse(readFileSync(recordedFile, "utf8")) as Recorded;

const reverseBytes = (hex: string) => Buffer.from(hex, "hex").reverse();
const toUint32LE = (number: number) => {
  const bytes = Buffer.alloc(4);
  bytes.writeUInt32LE(number);
  return bytes;
};
const sha256 = (bytes: Buffer) => createHash("sha256").update(bytes).digest();

test("the recorded Bitcoin Core responses are genuine: their hashes match their contents", () => {
  const { hash, merkleroot, previousblockhash, bits, ...headerFields } = recorded.getblockheader;
  const header = Buffer.concat([
    toUint32LE(headerFields.version),
    reverseBytes(previousblockhash),
    reverseBytes(merkleroot),
    toUint32LE(headerFields.time),
    reverseBytes(bits),
    toUint32LE(headerFields.nonce),
  ]);
  expect(parseRawHeader(header, hash)).toEqual({
    hash,
    parentHash: previousblockhash,
    timestampSeconds: headerFields.time,
  });
  const { hex, hash: witnessTxid } = recorded.getrawtransaction;
  const bytes = Buffer.from(hex, "hex");
  expect(sha256(sha256(bytes)).reverse().toString("hex")).toBe(witnessTxid);
});

test("canonicalBlockRequest parses a Bitcoin Core header, and returns undefined for an orphaned block", () => {
  const { getblockheader: response } = recorded;
  const { parseResult } = canonicalBlockRequest(response.hash);
  expect(parseResult(response)).toEqual({ number: 101, timestampSeconds: 1_760_656_845 });
  expect(parseResult({ ...response, confirmations: -1 })).toBeUndefined();
  expect(() => parseResult({ ...response, hash: response.previousblockhash })).toThrow(RpcFault);
});

test("transactionRequest parses a Bitcoin Core transaction by its bytes, mined or unconfirmed", () => {
  const { getrawtransaction: response } = recorded;
  const { parseResult } = transactionRequest(response.txid);
  const { parsedTransaction, blockHash } = parseResult(response);
  expect(blockHash).toBe(response.blockhash);
  expect(parsedTransaction).toMatchObject({
    txid: response.txid,
    isCoinbase: false,
    inputs: ["aa09d1ca5616d95adc82456d2c5c3673d92199c78d52367e3c6cd38ee8852297:0"],
    outputs: [
      { value: 4_499_999_859n, script: "001432f5f91b7b2b9d6df3cb2f6317c244e248eb0a1c" },
      { value: 500_000_000n, script: "00143d33369546cf9c3264aa35dc24f5c011cdf660cf" },
    ],
  });
  const { blockhash: _, ...unconfirmed } = response;
  expect(parseResult(unconfirmed).blockHash).toBeUndefined();
});

test("Bitcoin Core's error for an unknown transaction classifies as behind", () => {
  const { unknownTransaction: response } = recorded;
  expect(classifyError("getrawtransaction", { ...response, status: 500 })).toBe("behind");
});
