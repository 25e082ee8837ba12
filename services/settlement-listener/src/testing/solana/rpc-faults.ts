import { RpcError } from "../serve-json-rpc.ts";
import type { TransactionError } from "./transaction-error.ts";

// Codes and words as Agave has them (`rpc-client-api/src/custom_error.rs`).

export const invalidParams = (message: string) => new RpcError(-32602, message);

export const preflightFailed = (err: TransactionError, logs: readonly string[], units: bigint) =>
  new RpcError(-32002, `Transaction simulation failed: ${describe(err)}`, {
    accounts: null,
    err,
    innerInstructions: null,
    logs,
    returnData: null,
    unitsConsumed: units,
  });

export const signatureFailed = () =>
  new RpcError(-32003, "Transaction signature verification failure");

export const blockCleanedUp = (slot: number, firstSlot: number) =>
  new RpcError(
    -32001,
    `Block ${slot} cleaned up, does not exist on node. First available block: ${firstSlot}`,
  );

export const blockNotAvailable = (slot: number) =>
  new RpcError(-32004, `Block not available for slot ${slot}`);

export const nodeBehind = (slots: number) =>
  new RpcError(-32005, `Node is behind by ${slots} slots`, { numSlotsBehind: slots });

export const slotSkipped = (slot: number) =>
  new RpcError(
    -32007,
    `Slot ${slot} was skipped, or missing due to ledger jump to recent snapshot`,
  );

export const slotMissing = (slot: number) =>
  new RpcError(-32009, `Slot ${slot} was skipped, or missing in long-term storage`);

export const unsupportedVersion = (version: number) =>
  new RpcError(
    -32015,
    `Transaction version (${version}) is not supported by the requesting client. Please try the ` +
      `request again with the following configuration parameter: ` +
      `"maxSupportedTransactionVersion": ${version}`,
  );

export const contextSlotNotReached = (contextSlot: number) =>
  new RpcError(-32016, "Minimum context slot has not been reached", { contextSlot });

const words: Readonly<Record<string, string>> = {
  AlreadyProcessed: "This transaction has already been processed",
  BlockhashNotFound: "Blockhash not found",
  AccountNotFound: "Attempt to debit an account but found no record of a prior credit.",
  InsufficientFundsForFee: "Insufficient funds for fee",
};

const describe = (err: TransactionError): string => {
  if (typeof err === "string") return words[err] ?? err;
  const [index, fault] = (err["InstructionError"] ?? []) as [number?, TransactionError?];
  if (fault === undefined) return JSON.stringify(err);
  const what =
    typeof fault === "string"
      ? fault
      : `custom program error: 0x${Number(fault["Custom"]).toString(16)}`;
  return `Error processing Instruction ${index}: ${what}`;
};
