import { RpcError } from "../serve-json-rpc.ts";
import type { TransactionError } from "./transaction-error.ts";

// Error codes and messages from Agave (`rpc-client-api/src/custom_error.rs`).

export const invalidParamsError = (message: string) => new RpcError(-32602, message);

export const preflightFailedError = (
  err: TransactionError,
  logs: readonly string[],
  computeUnits: bigint,
) =>
  new RpcError(-32002, `Transaction simulation failed: ${formatError(err)}`, {
    accounts: null,
    err,
    innerInstructions: null,
    logs,
    returnData: null,
    unitsConsumed: computeUnits,
  });

export const signatureFailedError = () =>
  new RpcError(-32003, "Transaction signature verification failure");

export const blockCleanedUpError = (slot: number, firstSlot: number) =>
  new RpcError(
    -32001,
    `Block ${slot} cleaned up, does not exist on node. First available block: ${firstSlot}`,
  );

export const blockNotAvailableError = (slot: number) =>
  new RpcError(-32004, `Block not available for slot ${slot}`);

export const nodeBehindError = (slots: number) =>
  new RpcError(-32005, `Node is behind by ${slots} slots`, { numSlotsBehind: slots });

export const slotSkippedError = (slot: number) =>
  new RpcError(
    -32007,
    `Slot ${slot} was skipped, or missing due to ledger jump to recent snapshot`,
  );

export const slotMissingError = (slot: number) =>
  new RpcError(-32009, `Slot ${slot} was skipped, or missing in long-term storage`);

export const unsupportedVersionError = (version: number) =>
  new RpcError(
    -32015,
    `Transaction version (${version}) is not supported by the requesting client. Please try the ` +
      `request again with the following configuration parameter: ` +
      `"maxSupportedTransactionVersion": ${version}`,
  );

export const contextSlotNotReachedError = (contextSlot: number) =>
  new RpcError(-32016, "Minimum context slot has not been reached", { contextSlot });

const messages: Readonly<Record<string, string>> = {
  AlreadyProcessed: "This transaction has already been processed",
  BlockhashNotFound: "Blockhash not found",
  AccountNotFound: "Attempt to debit an account but found no record of a prior credit.",
  InsufficientFundsForFee: "Insufficient funds for fee",
};

const formatError = (err: TransactionError): string => {
  if (typeof err === "string") return messages[err] ?? err;
  const [index, instructionError] = (err["InstructionError"] ?? []) as [number?, TransactionError?];
  if (instructionError === undefined) return JSON.stringify(err);
  const reason =
    typeof instructionError === "string"
      ? instructionError
      : `custom program error: 0x${Number(instructionError["Custom"]).toString(16)}`;
  return `Error processing Instruction ${index}: ${reason}`;
};
