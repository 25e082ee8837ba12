import * as z from "zod";
import { type TransactionForm, describeMemo, describeTransaction } from "./describe-transaction.ts";
import {
  Commitment,
  ContextOptions,
  type NodeView,
  contextOf,
  readParams,
  withContext,
} from "./node-view.ts";
import { type Block, type LandedTransaction, blockhashAgeMax } from "./open-ledger.ts";
import {
  blockCleanedUp,
  blockNotAvailable,
  invalidParams,
  nodeBehind,
  slotMissing,
  slotSkipped,
} from "./rpc-faults.ts";

const slotRangeMax = 500_000;
const signaturesMax = 1_000;
const statusesMax = 256;
/** A node that is farther behind says that it is not healthy. */
const healthySlotsMax = 128;

const Options = ContextOptions.prefault({});
const Slot = z.int().nonnegative();
const signatureCharactersMax = 88;
const signatureCharactersMin = 64;
const isSignature = (text: string): boolean =>
  /^[1-9A-HJ-NP-Za-km-z]+$/.test(text) &&
  text.length >= signatureCharactersMin &&
  text.length <= signatureCharactersMax;

const Details = z.enum(["full", "accounts", "signatures", "none"]);
const Form = z.object({
  // Only these are kept; the others are refused and never guessed at.
  encoding: z.enum(["json", "base64", "base58"]).default("json"),
  maxSupportedTransactionVersion: z.int().optional(),
  commitment: Commitment.default("finalized"),
});
const BlockForm = Form.extend({
  transactionDetails: Details.default("full"),
  rewards: z.boolean().default(true),
});

/** The methods that tell of slots, blocks and transactions. */
export const chainMethods: Readonly<
  Record<string, (view: NodeView, params: readonly unknown[]) => unknown>
> = {
  getVersion: () => ({ "solana-core": "4.0.0", "feature-set": 0 }),
  getHealth: (view) => {
    const behind = view.slotsBehind();
    if (behind > healthySlotsMax) throw nodeBehind(behind);
    return "ok";
  },
  getGenesisHash: (view) => view.blocks()[0]?.hash,
  getFirstAvailableBlock: (view) => view.firstSlot(),
  getSlot: (view, params) => askTop(view, params).slot,
  getBlockHeight: (view, params) => askTop(view, params).height,
  getLatestBlockhash: (view, params) => {
    const block = askTop(view, params);
    const { hash: blockhash, height } = block;
    return withContext(block, { blockhash, lastValidBlockHeight: height + blockhashAgeMax });
  },
  isBlockhashValid: (view, params) => {
    const [hash, options] = readParams(z.tuple([z.string(), Options]), pad(params, 2));
    const block = contextOf(view, options);
    const youngest = view.blocks().slice(0, block.height + 1);
    return withContext(
      block,
      youngest.slice(-blockhashAgeMax - 1).some((one) => one.hash === hash),
    );
  },
  getBlock: (view, params) => getBlock(view, params),
  getBlocks: (view, params) => getBlocks(view, params),
  getBlocksWithLimit: (view, params) => {
    const shape = z.tuple([Slot, z.int().positive().max(slotRangeMax), AtLeastConfirmed]);
    const [from, limit, options] = readParams(shape, pad(params, 3));
    const top = view.top(options.commitment);
    return slotsOf(view, { from, to: top.slot, top }).slice(0, limit);
  },
  getBlockTime: (view, params) => {
    const [slot] = readParams(z.tuple([Slot]).rest(z.unknown()), params);
    return findBlock(view, slot, view.top("confirmed")).timeSeconds;
  },
  getTransaction: (view, params) => {
    const shape = z.tuple([Signature, Form.prefault({})]);
    const [signature, form] = readParams(shape, withForm(params));
    refuseProcessed(form.commitment);
    const landed = findLanded(view, signature, view.top(form.commitment));
    if (landed === undefined) return null;
    const { slot, height } = landed;
    return {
      slot,
      blockTime: view.blocks()[height]?.timeSeconds ?? null,
      ...describeTransaction(landed, formOf(form, "full")),
    };
  },
  getSignaturesForAddress: (view, params) => listSignatures(view, params),
  getSignatureStatuses: (view, params) => {
    const shape = z.tuple([z.array(Signature).max(statusesMax), z.unknown()]);
    const [signatures] = readParams(shape, pad(params, 2));
    const top = view.top("processed");
    return withContext(
      top,
      signatures.map((signature) => {
        const landed = findLanded(view, signature, top);
        return landed === undefined ? null : statusOf(view, landed);
      }),
    );
  },
};

const Signature = z.string().refine(isSignature, "WrongSize");
const AtLeastConfirmed = Options.refine(
  ({ commitment }) => commitment !== "processed",
  "Method does not support commitment below `confirmed`",
);

/** The parameters that a caller left out. */
const pad = (params: readonly unknown[], count: number): unknown[] =>
  Array.from({ length: count }, (_, index) => params[index] ?? undefined);

/** An older caller gives the encoding alone. */
const withForm = ([what, form]: readonly unknown[]): unknown[] => [
  what,
  typeof form === "string" ? { encoding: form } : (form ?? undefined),
];

const askTop = (view: NodeView, params: readonly unknown[]): Block =>
  contextOf(view, readParams(z.tuple([Options]), pad(params, 1))[0]);

const refuseProcessed = (commitment: Commitment): void => {
  if (commitment === "processed") {
    throw invalidParams("Method does not support commitment below `confirmed`");
  }
};

const findBlock = (view: NodeView, slot: number, top: Block): Block => {
  if (slot > top.slot) throw blockNotAvailable(slot);
  if (slot < view.firstSlot()) throw blockCleanedUp(slot, view.firstSlot());
  const block = view
    .blocks()
    .slice(0, top.height + 1)
    .findLast((one) => one.slot <= slot);
  if (block?.slot !== slot) throw view.isArchive() ? slotMissing(slot) : slotSkipped(slot);
  return block;
};

const getBlock = (view: NodeView, params: readonly unknown[]): unknown => {
  const [slot, form] = readParams(z.tuple([Slot, BlockForm.prefault({})]), withForm(params));
  refuseProcessed(form.commitment);
  const block = findBlock(view, slot, view.top(form.commitment));
  const details = form.transactionDetails;
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
            describeTransaction(landed, formOf(form, details)),
          ),
        }
      : {}),
    ...(form.rewards ? { rewards: [] } : {}),
  };
};

const formOf = (
  { encoding, maxSupportedTransactionVersion }: z.infer<typeof Form>,
  details: "full" | "accounts",
): TransactionForm => ({ encoding, maxVersion: maxSupportedTransactionVersion, details });

const getBlocks = (view: NodeView, [from, end, options]: readonly unknown[]): number[] => {
  const hasEnd = typeof end === "number";
  const given = [
    from,
    hasEnd ? end : undefined,
    (hasEnd ? options : (options ?? end)) ?? undefined,
  ];
  const shape = z.tuple([Slot, Slot.optional(), AtLeastConfirmed]);
  const [first, last, { commitment }] = readParams(shape, given);
  const top = view.top(commitment);
  const to = Math.min(last ?? first + slotRangeMax, top.slot);
  if (to - first > slotRangeMax) {
    throw invalidParams(`Slot range too large; max ${slotRangeMax}`);
  }
  return slotsOf(view, { from: first, to, top });
};

const slotsOf = (
  view: NodeView,
  { from, to, top }: { from: number; to: number; top: Block },
): number[] =>
  view
    .blocks()
    .slice(0, top.height + 1)
    .map(({ slot }) => slot)
    .filter((slot) => slot >= Math.max(from, view.firstSlot()) && slot <= to);

const findLanded = (view: NodeView, signature: string, top: Block): LandedTransaction | undefined =>
  view.ledger.landingsOf(signature).find((landed) => view.has(landed, top));

const statusAt = (view: NodeView, { height }: LandedTransaction): Commitment => {
  if (height <= view.top("finalized").height) return "finalized";
  return height <= view.top("confirmed").height ? "confirmed" : "processed";
};

const statusOf = (view: NodeView, landed: LandedTransaction) => {
  const confirmationStatus = statusAt(view, landed);
  const above = view.top("processed").height - landed.height;
  return {
    slot: landed.slot,
    confirmations: confirmationStatus === "finalized" ? null : above,
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

const listSignatures = (view: NodeView, params: readonly unknown[]): unknown => {
  const shape = z.tuple([z.string(), SignatureOptions.prefault({})]);
  const [address, { before, until, limit, ...options }] = readParams(shape, pad(params, 2));
  if (limit < 1 || limit > signaturesMax) {
    throw invalidParams(`Invalid limit; max ${signaturesMax}`);
  }
  refuseProcessed(options.commitment);
  const top = contextOf(view, options);
  const start = before === undefined ? undefined : findLanded(view, before, top);
  // A node that does not know where to go on from has nothing to tell.
  if (before !== undefined && start === undefined) return [];
  const end = until === undefined ? undefined : findLanded(view, until, top);
  return view.ledger
    .landingsWith(address as never)
    .filter((landed) => view.has(landed, top))
    .filter((landed) => start === undefined || isOlder(view, landed, start))
    .filter((landed) => end === undefined || isOlder(view, end, landed))
    .reverse()
    .slice(0, limit)
    .map((landed) => ({
      signature: landed.signature,
      slot: landed.slot,
      err: landed.err,
      memo: describeMemo(landed),
      blockTime: view.blocks()[landed.height]?.timeSeconds ?? null,
      confirmationStatus: statusAt(view, landed),
    }));
};

const isOlder = (view: NodeView, one: LandedTransaction, other: LandedTransaction): boolean => {
  if (one.height !== other.height) return one.height < other.height;
  const { transactions = [] } = view.blocks()[one.height] ?? {};
  return transactions.indexOf(one) < transactions.indexOf(other);
};
