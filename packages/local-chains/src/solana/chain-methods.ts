import * as z from "zod";
import { RpcError } from "../serve-json-rpc.ts";
import {
  type TransactionFormat,
  serializeMemo,
  serializeTransaction,
} from "./serialize-transaction.ts";
import {
  Commitment,
  ContextOptions,
  type ChainView,
  resolveContextBlock,
  parseParams,
  withContext,
} from "./node-view.ts";
import { type Block, type LandedTransaction, blockhashAgeMax } from "./create-ledger.ts";
import {
  blockCleanedUpError,
  blockNotAvailableError,
  invalidParamsError,
  nodeBehindError,
  slotMissingError,
  slotSkippedError,
} from "./rpc-errors.ts";

const slotRangeMax = 500_000;
const signaturesMax = 1_000;
const statusesMax = 256;
/** If a node lags by more slots than this, it reports that it is unhealthy. */
const healthySlotsMax = 128;

const Options = ContextOptions.prefault({});
const Slot = z.int().nonnegative();
const signatureCharactersMax = 88;
const signatureCharactersMin = 64;
const isSignature = (text: string): boolean =>
  /^[1-9A-HJ-NP-Za-km-z]+$/.test(text) &&
  text.length >= signatureCharactersMin &&
  text.length <= signatureCharactersMax;

const TransactionDetails = z.enum(["full", "accounts", "signatures", "none"]);
const TransactionOptions = z.object({
  // Other encodings are not supported, and requests for them are rejected.
  encoding: z.enum(["json", "base64", "base58"]).default("json"),
  maxSupportedTransactionVersion: z.int().optional(),
  commitment: Commitment.default("finalized"),
});
const BlockOptions = TransactionOptions.extend({
  transactionDetails: TransactionDetails.default("full"),
  rewards: z.boolean().default(true),
});

/** Handles a call of a method for slots, blocks or transactions. */
export const handleChainCall = (
  view: ChainView,
  method: string,
  params: readonly unknown[],
): unknown => {
  const handler = chainMethods[method];
  if (handler === undefined) throw new RpcError(-32601, "Method not found");
  return handler(view, params);
};

const chainMethods: Readonly<
  Record<string, (view: ChainView, params: readonly unknown[]) => unknown>
> = {
  getVersion: () => ({ "solana-core": "4.0.0", "feature-set": 0 }),
  getHealth: (view) => {
    const slotsBehind = view.slotsBehind();
    if (slotsBehind > healthySlotsMax) throw nodeBehindError(slotsBehind);
    return "ok";
  },
  getGenesisHash: (view) => view.genesisHash,
  getFirstAvailableBlock: (view) => view.firstSlot(),
  getSlot: (view, params) => parseContextBlock(view, params).slot,
  getBlockHeight: (view, params) => parseContextBlock(view, params).height,
  getLatestBlockhash: (view, params) => {
    const block = parseContextBlock(view, params);
    const { hash: blockhash, height } = block;
    return withContext(block, { blockhash, lastValidBlockHeight: height + blockhashAgeMax });
  },
  isBlockhashValid: (view, params) => {
    const [hash, options] = parseParams(z.tuple([z.string(), Options]), params);
    const block = resolveContextBlock(view, options);
    const blocksUpToContext = view.blocks().slice(0, block.height + 1);
    return withContext(
      block,
      blocksUpToContext.slice(-blockhashAgeMax - 1).some((candidate) => candidate.hash === hash),
    );
  },
  getBlock: (view, params) => getBlock(view, params),
  getBlocks: (view, params) => getBlocks(view, params),
  getBlocksWithLimit: (view, params) => {
    const schema = z.tuple([Slot, z.int().positive().max(slotRangeMax), AtLeastConfirmed]);
    const [fromSlot, limit, options] = parseParams(schema, params);
    const newestBlock = view.findNewestBlock(options.commitment);
    return listSlots(view, { from: fromSlot, to: newestBlock.slot, newestBlock }).slice(0, limit);
  },
  getBlockTime: (view, params) => {
    const [slot] = parseParams(z.tuple([Slot]), params);
    return findBlock(view, slot, view.findNewestBlock("confirmed")).timeSeconds;
  },
  getTransaction: (view, params) => {
    const schema = z.tuple([Signature, TransactionOptions.prefault({})]);
    const [signature, options] = parseParams(schema, normalizeOptions(params));
    rejectProcessed(options.commitment);
    const landed = view.findTransaction(signature, view.findNewestBlock(options.commitment));
    if (landed === undefined) return null;
    const { slot, height } = landed;
    return {
      slot,
      blockTime: view.blocks()[height]?.timeSeconds ?? null,
      ...serializeTransaction(landed, toTransactionFormat(options, "full")),
    };
  },
  getSignaturesForAddress: (view, params) => listSignatures(view, params),
  getSignatureStatuses: (view, params) => {
    const schema = z.tuple([z.array(Signature).max(statusesMax)]);
    const [signatures] = parseParams(schema, params);
    const newestBlock = view.findNewestBlock("processed");
    return withContext(
      newestBlock,
      signatures.map((signature) => {
        const landed = view.findTransaction(signature, newestBlock);
        return landed === undefined ? null : serializeStatus(view, landed);
      }),
    );
  },
};

const Signature = z.string().refine(isSignature, "WrongSize");
const AtLeastConfirmed = Options.refine(
  ({ commitment }) => commitment !== "processed",
  "Method does not support commitment below `confirmed`",
);

/** Older clients pass the encoding as a string instead of an object with options. */
const normalizeOptions = ([subject, options]: readonly unknown[]): unknown[] => [
  subject,
  typeof options === "string" ? { encoding: options } : options,
];

const parseContextBlock = (view: ChainView, params: readonly unknown[]): Block =>
  resolveContextBlock(view, parseParams(z.tuple([Options]), params)[0]);

const rejectProcessed = (commitment: Commitment): void => {
  if (commitment === "processed") {
    throw invalidParamsError("Method does not support commitment below `confirmed`");
  }
};

const findBlock = (view: ChainView, slot: number, newestBlock: Block): Block => {
  if (slot > newestBlock.slot) throw blockNotAvailableError(slot);
  if (slot < view.firstSlot()) throw blockCleanedUpError(slot, view.firstSlot());
  const block = view
    .blocks()
    .slice(0, newestBlock.height + 1)
    .findLast((candidate) => candidate.slot <= slot);
  if (block?.slot !== slot)
    throw view.isArchive() ? slotMissingError(slot) : slotSkippedError(slot);
  return block;
};

const getBlock = (view: ChainView, params: readonly unknown[]): unknown => {
  const [slot, options] = parseParams(
    z.tuple([Slot, BlockOptions.prefault({})]),
    normalizeOptions(params),
  );
  rejectProcessed(options.commitment);
  const block = findBlock(view, slot, view.findNewestBlock(options.commitment));
  const details = options.transactionDetails;
  return {
    blockHeight: block.height,
    blockTime: block.timeSeconds,
    blockhash: block.hash,
    parentSlot: block.parentSlot,
    previousBlockhash: block.parentHash,
    ...(details === "signatures"
      ? { signatures: block.transactions.map(({ signature }) => signature) }
      : {}),
    ...(details === "full" || details === "accounts"
      ? {
          transactions: block.transactions.map((landed) =>
            serializeTransaction(landed, toTransactionFormat(options, details)),
          ),
        }
      : {}),
    ...(options.rewards ? { rewards: [] } : {}),
  };
};

const toTransactionFormat = (
  { encoding, maxSupportedTransactionVersion }: z.infer<typeof TransactionOptions>,
  details: "full" | "accounts",
): TransactionFormat => ({ encoding, maxVersion: maxSupportedTransactionVersion, details });

const getBlocks = (view: ChainView, [fromSlot, endSlot, options]: readonly unknown[]): number[] => {
  const hasEnd = typeof endSlot === "number";
  const normalizedParams = [
    fromSlot,
    hasEnd ? endSlot : undefined,
    hasEnd ? options : (options ?? endSlot),
  ];
  const schema = z.tuple([Slot, Slot.optional(), AtLeastConfirmed]);
  const [firstSlot, lastSlot, { commitment }] = parseParams(schema, normalizedParams);
  const newestBlock = view.findNewestBlock(commitment);
  const to = Math.min(lastSlot ?? firstSlot + slotRangeMax, newestBlock.slot);
  if (to - firstSlot > slotRangeMax) {
    throw invalidParamsError(`Slot range too large; max ${slotRangeMax}`);
  }
  return listSlots(view, { from: firstSlot, to, newestBlock });
};

const listSlots = (
  view: ChainView,
  { from, to, newestBlock }: { from: number; to: number; newestBlock: Block },
): number[] =>
  view
    .blocks()
    .slice(0, newestBlock.height + 1)
    .map(({ slot }) => slot)
    .filter((slot) => slot >= Math.max(from, view.firstSlot()) && slot <= to);

const findCommitment = (view: ChainView, { height }: LandedTransaction): Commitment => {
  if (height <= view.findNewestBlock("finalized").height) return "finalized";
  return height <= view.findNewestBlock("confirmed").height ? "confirmed" : "processed";
};

const serializeStatus = (view: ChainView, landed: LandedTransaction) => {
  const confirmationStatus = findCommitment(view, landed);
  const blocksAbove = view.findNewestBlock("processed").height - landed.height;
  return {
    slot: landed.slot,
    confirmations: confirmationStatus === "finalized" ? null : blocksAbove,
    err: landed.err,
    status: landed.err === null ? { Ok: null } : { Err: landed.err },
    confirmationStatus,
  };
};

const SignatureOptions = ContextOptions.extend({
  before: Signature.optional(),
  until: Signature.optional(),
  limit: z.int().default(signaturesMax),
});

const listSignatures = (view: ChainView, params: readonly unknown[]): unknown => {
  const schema = z.tuple([z.string(), SignatureOptions.prefault({})]);
  const [address, { before, until, limit, ...options }] = parseParams(schema, params);
  if (limit < 1 || limit > signaturesMax) {
    throw invalidParamsError(`Invalid limit; max ${signaturesMax}`);
  }
  rejectProcessed(options.commitment);
  const contextBlock = resolveContextBlock(view, options);
  const startTransaction =
    before === undefined ? undefined : view.findTransaction(before, contextBlock);
  // A node that does not know the start signature returns an empty list.
  if (before !== undefined && startTransaction === undefined) return [];
  const endTransaction =
    until === undefined ? undefined : view.findTransaction(until, contextBlock);
  return view
    .listTransactions(address, contextBlock)
    .filter((landed) => startTransaction === undefined || isOlder(landed, startTransaction))
    .filter((landed) => endTransaction === undefined || isOlder(endTransaction, landed))
    .reverse()
    .slice(0, limit)
    .map((landed) => ({
      signature: landed.signature,
      slot: landed.slot,
      err: landed.err,
      memo: serializeMemo(landed),
      blockTime: view.blocks()[landed.height]?.timeSeconds ?? null,
      confirmationStatus: findCommitment(view, landed),
    }));
};

const isOlder = (transaction: LandedTransaction, otherTransaction: LandedTransaction): boolean =>
  transaction.height === otherTransaction.height
    ? transaction.index < otherTransaction.index
    : transaction.height < otherTransaction.height;
