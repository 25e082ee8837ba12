import {
  type Transaction,
  getBase58Encoder,
  getTransactionDecoder,
  verifySignature,
} from "@solana/kit";
import { FailedTransactionMetadata } from "litesvm";
import * as z from "zod";
import {
  Commitment,
  ContextOptions,
  type NodeView,
  contextOf,
  readParams,
  withContext,
} from "./node-view.ts";
import type { ReadTransaction } from "./execute-transaction.ts";
import { invalidParams, preflightFailed, signatureFailed } from "./rpc-faults.ts";
import { type TransactionError, readTransactionError } from "./transaction-error.ts";

const packetBytesMax = 1232;
const lamportsPerSignature = 5_000;

const Encoding = z.enum(["base58", "base64"]).default("base58");
const SendOptions = z
  .object({
    encoding: Encoding,
    skipPreflight: z.boolean().default(false),
    preflightCommitment: Commitment.default("finalized"),
  })
  .prefault({});
const SimulateOptions = ContextOptions.extend({
  encoding: Encoding,
  sigVerify: z.boolean().default(false),
  replaceRecentBlockhash: z.boolean().default(false),
}).prefault({});

/** The methods that take transactions. */
export const sendingMethods: Readonly<
  Record<string, (view: NodeView, params: readonly unknown[]) => unknown>
> = {
  sendTransaction: async (view, params) => {
    const shape = z.tuple([z.string(), SendOptions]);
    const [text, options] = readParams(shape, [params[0], params[1] ?? undefined]);
    const read = decode(view, text, options.encoding);
    if (!options.skipPreflight) await preflight(view, read);
    view.ledger.submit(read.bytes);
    return read.signature;
  },
  simulateTransaction: async (view, params) => {
    const shape = z.tuple([z.string(), SimulateOptions]);
    const [text, options] = readParams(shape, [params[0], params[1] ?? undefined]);
    const read = decode(view, text, options.encoding);
    if (options.sigVerify && !(await isSigned(read.transaction))) throw signatureFailed();
    const top = contextOf(view, options);
    const { hash: blockhash, height } = view.top("processed");
    const { err, logs, units } = simulate(view, read, !options.replaceRecentBlockhash);
    const replacement = { blockhash, lastValidBlockHeight: height + 150 };
    return withContext(top, {
      err,
      logs,
      accounts: null,
      unitsConsumed: units,
      returnData: null,
      innerInstructions: null,
      replacementBlockhash: options.replaceRecentBlockhash ? replacement : null,
    });
  },
  getFeeForMessage: (view, params) => {
    const shape = z.tuple([z.string(), ContextOptions.prefault({})]);
    const [text, options] = readParams(shape, [params[0], params[1] ?? undefined]);
    const message = Buffer.from(text, "base64");
    // Behind the version, which a legacy message has not, the header begins with the signers.
    const signerCount = message[(message[0] ?? 0) >= 0x80 ? 1 : 0];
    if (signerCount === undefined) throw invalidParams("failed to deserialize message");
    return withContext(contextOf(view, options), signerCount * lamportsPerSignature);
  },
};

const decode = (view: NodeView, text: string, encoding: "base58" | "base64"): ReadTransaction => {
  const bytes = decodeText(text, encoding);
  if (bytes.length > packetBytesMax) {
    throw invalidParams(
      `decoded solana_transaction::versioned::VersionedTransaction too large: ${bytes.length} ` +
        `bytes (max: ${packetBytesMax} bytes)`,
    );
  }
  try {
    return view.ledger.read(bytes);
  } catch {
    throw invalidParams(
      "failed to deserialize solana_transaction::versioned::VersionedTransaction",
    );
  }
};

const decodeText = (text: string, encoding: "base58" | "base64"): Uint8Array => {
  if (encoding === "base64") return new Uint8Array(Buffer.from(text, "base64"));
  try {
    return new Uint8Array(getBase58Encoder().encode(text));
  } catch {
    throw invalidParams("invalid base58 encoding: InvalidCharacter");
  }
};

const preflight = async (view: NodeView, read: ReadTransaction): Promise<void> => {
  if (!(await isSigned(read.transaction))) throw signatureFailed();
  const { err, logs, units } = simulate(view, read, true);
  if (err !== null) throw preflightFailed(err, logs, units);
};

const isSigned = async ({ signatures, messageBytes }: Transaction): Promise<boolean> => {
  for (const [address, signature] of Object.entries(signatures)) {
    if (signature === null) return false;
    const key = await crypto.subtle.importKey(
      "raw",
      new Uint8Array(getBase58Encoder().encode(address)),
      "Ed25519",
      true,
      ["verify"],
    );
    if (!(await verifySignature(key, signature, messageBytes))) return false;
  }
  return true;
};

type Simulation = { err: TransactionError | null; logs: readonly string[]; units: bigint };

const simulate = (
  { ledger }: NodeView,
  read: ReadTransaction,
  checksBlockhash: boolean,
): Simulation => {
  const refusedFor = checksBlockhash ? ledger.refuse(read) : undefined;
  if (refusedFor !== undefined) return { err: refusedFor, logs: [], units: 0n };
  ledger.svm.withSigverify(false);
  try {
    const result = ledger.svm.simulateTransaction(getTransactionDecoder().decode(read.bytes));
    const err = result instanceof FailedTransactionMetadata ? readTransactionError(result) : null;
    return { err, logs: result.meta().logs(), units: result.meta().computeUnitsConsumed() };
  } finally {
    ledger.svm.withSigverify(true);
  }
};
