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
  resolveContextBlock,
  parseParams,
  withContext,
} from "./node-view.ts";
import type { DecodedTransaction } from "./execute-transaction.ts";
import { invalidParamsError, preflightFailedError, signatureFailedError } from "./rpc-errors.ts";
import { type TransactionError, decodeTransactionError } from "./transaction-error.ts";

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

/** The RPC methods that send or simulate a transaction, or need it to compute a fee. */
export const sendingMethods: Readonly<
  Record<string, (view: NodeView, params: readonly unknown[]) => unknown>
> = {
  sendTransaction: async (view, params) => {
    const schema = z.tuple([z.string(), SendOptions]);
    const [encodedTransaction, options] = parseParams(schema, params);
    const decoded = decodeTransaction(view, encodedTransaction, options.encoding);
    if (!options.skipPreflight) await preflight(view, decoded);
    view.ledger.submit(decoded.bytes);
    return decoded.signature;
  },
  simulateTransaction: async (view, params) => {
    const schema = z.tuple([z.string(), SimulateOptions]);
    const [encodedTransaction, options] = parseParams(schema, params);
    const decoded = decodeTransaction(view, encodedTransaction, options.encoding);
    if (options.sigVerify && !(await isSigned(decoded.transaction))) throw signatureFailedError();
    const contextBlock = resolveContextBlock(view, options);
    const { hash: blockhash, height } = view.findNewestBlock("processed");
    const { err, logs, computeUnits } = simulate(view, decoded, !options.replaceRecentBlockhash);
    const replacement = { blockhash, lastValidBlockHeight: height + 150 };
    return withContext(contextBlock, {
      err,
      logs,
      accounts: null,
      unitsConsumed: computeUnits,
      returnData: null,
      innerInstructions: null,
      replacementBlockhash: options.replaceRecentBlockhash ? replacement : null,
    });
  },
  getFeeForMessage: (view, params) => {
    const schema = z.tuple([z.string(), ContextOptions.prefault({})]);
    const [encodedMessage, options] = parseParams(schema, params);
    const message = Buffer.from(encodedMessage, "base64");
    // The header starts with the number of signers. In versioned messages, a version byte comes
    // before the header.
    const signerCount = message[(message[0] ?? 0) >= 0x80 ? 1 : 0];
    if (signerCount === undefined) throw invalidParamsError("failed to deserialize message");
    return withContext(resolveContextBlock(view, options), signerCount * lamportsPerSignature);
  },
};

const decodeTransaction = (
  view: NodeView,
  encodedTransaction: string,
  encoding: "base58" | "base64",
): DecodedTransaction => {
  const bytes = decodeText(encodedTransaction, encoding);
  if (bytes.length > packetBytesMax) {
    throw invalidParamsError(
      `decoded solana_transaction::versioned::VersionedTransaction too large: ${bytes.length} ` +
        `bytes (max: ${packetBytesMax} bytes)`,
    );
  }
  try {
    return view.ledger.decodeTransaction(bytes);
  } catch {
    throw invalidParamsError(
      "failed to deserialize solana_transaction::versioned::VersionedTransaction",
    );
  }
};

const decodeText = (text: string, encoding: "base58" | "base64"): Uint8Array => {
  if (encoding === "base64") return new Uint8Array(Buffer.from(text, "base64"));
  try {
    return new Uint8Array(getBase58Encoder().encode(text));
  } catch {
    throw invalidParamsError("invalid base58 encoding: InvalidCharacter");
  }
};

const preflight = async (view: NodeView, decoded: DecodedTransaction): Promise<void> => {
  if (!(await isSigned(decoded.transaction))) throw signatureFailedError();
  const { err, logs, computeUnits } = simulate(view, decoded, true);
  if (err !== null) throw preflightFailedError(err, logs, computeUnits);
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

type Simulation = { err: TransactionError | null; logs: readonly string[]; computeUnits: bigint };

const simulate = (
  { ledger }: NodeView,
  decoded: DecodedTransaction,
  shouldCheckBlockhash: boolean,
): Simulation => {
  const rejection = shouldCheckBlockhash ? ledger.findRejection(decoded) : undefined;
  if (rejection !== undefined) return { err: rejection, logs: [], computeUnits: 0n };
  ledger.svm.withSigverify(false);
  try {
    const result = ledger.svm.simulateTransaction(getTransactionDecoder().decode(decoded.bytes));
    const err = result instanceof FailedTransactionMetadata ? decodeTransactionError(result) : null;
    return { err, logs: result.meta().logs(), computeUnits: result.meta().computeUnitsConsumed() };
  } finally {
    ledger.svm.withSigverify(true);
  }
};
