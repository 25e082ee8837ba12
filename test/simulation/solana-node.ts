import { getTransferCheckedInstructionDataEncoder } from "@solana-program/token";
import { getBase58Decoder } from "@solana/kit";
import { deriveAssociatedTokenAccount } from "@payment-links/chains";
import { loadCatalogue } from "@payment-links/contracts";
import { RpcError } from "@payment-links/local-chains/serve-json-rpc";
import {
  blockCleanedUpError,
  blockNotAvailableError,
  contextSlotNotReachedError,
  slotSkippedError,
} from "@payment-links/local-chains/solana/rpc-errors";
import { serializeMint } from "@payment-links/local-chains/solana/token-account";
import { type Block, type SolanaTransfer, type Transaction, finalDepth } from "./block.ts";
import { getTokenProgram } from "./chain-kinds.ts";
import { type RpcCall, type NodeView, findTransaction, servesOtherChain } from "./node-view.ts";

type CallOptions = {
  commitment?: "confirmed" | "finalized";
  minContextSlot?: number;
  limit?: number;
  before?: string;
};

type BlockOptions = { transactionDetails?: "none" | "signatures" };

const signaturesMax = 1_000;
const initialBalance = 10n ** 15n;

/** Handles a call like a Solana node. The error codes are Agave's. */
export const handleSolanaCall = (view: NodeView, { method, params }: RpcCall): unknown => {
  switch (method) {
    case "getGenesisHash":
      return servesOtherChain(view)
        ? view.kind.alterHash(view.kind.nodeChainId)
        : view.kind.nodeChainId;
    case "getFirstAvailableBlock":
      return listRetainedBlocks(view)[0]?.slot ?? 0;
    case "getSlot":
      return getTopBlock(view, params[0] as CallOptions).slot;
    case "getBlocks":
      return listSlotsInRange(view, params as [number, number, CallOptions]);
    case "getBlock":
      return serializeBlock(view, params[0] as number, params[1] as BlockOptions);
    case "getSignaturesForAddress":
      return listSignatures(view, params[0] as string, params[1] as CallOptions);
    case "getTransaction":
      return serializeTransaction(view, params[0] as string);
    case "getMultipleAccounts":
      return { context: { slot: 0 }, value: (params[0] as string[]).map(serializeCatalogueMint) };
    default:
      throw new RpcError(-32_601, "Method not found");
  }
};

/** All blocks of a node are confirmed. */
const getTopBlock = (
  { blocks }: NodeView,
  { commitment, minContextSlot = 0 }: CallOptions,
): Block => {
  const height = blocks.length - 1 - (commitment === "finalized" ? finalDepth : 0);
  const topBlock = blocks[Math.max(0, height)];
  if (topBlock === undefined) throw blockNotAvailableError(0);
  if (minContextSlot > topBlock.slot) throw contextSlotNotReachedError(topBlock.slot);
  return topBlock;
};

/** Returns the blocks that are still in the node's ledger. */
const listRetainedBlocks = (view: NodeView): readonly Block[] =>
  view.blocks.filter((block) => !view.isPruned(block));

const listSlotsInRange = (
  view: NodeView,
  [from, to, options]: [number, number, CallOptions],
): number[] => {
  const topSlot = getTopBlock(view, options).slot;
  return listRetainedBlocks(view)
    .map(({ slot }) => slot)
    .filter((slot) => slot >= from && slot <= Math.min(to, topSlot));
};

const serializeBlock = (
  view: NodeView,
  slot: number,
  { transactionDetails }: BlockOptions = {},
): unknown => {
  const block = view.blocks.find((candidate) => candidate.slot === slot);
  if (block === undefined && slot > (view.blocks.at(-1)?.slot ?? 0)) {
    throw blockNotAvailableError(slot);
  }
  const firstSlot = listRetainedBlocks(view)[0]?.slot ?? 0;
  if (slot < firstSlot) throw blockCleanedUpError(slot, firstSlot);
  if (block === undefined) throw slotSkippedError(slot);
  const { number, parent, timestampSeconds } = block;
  return {
    blockhash: view.getHash(block),
    previousBlockhash: view.getHash(parent ?? block),
    parentSlot: parent?.slot ?? 0,
    blockHeight: number,
    blockTime: timestampSeconds,
    ...(transactionDetails === "signatures" && {
      signatures: view.getTransactions(block).map(({ hash }) => hash),
    }),
  };
};

const listSignatures = (view: NodeView, account: string, options: CallOptions): unknown => {
  getTopBlock(view, options);
  if (view.behavior.kind === "omits logs") return [];
  const signatureInfos = view
    .omitPruned(view.blocks)
    .flatMap((block) =>
      view
        .getTransactions(block)
        .filter((transaction) => listAccountKeys(view, transaction).includes(account))
        .map((transaction) => ({
          signature: transaction.hash,
          slot: block.slot,
          err: getTransactionError(transaction),
          memo: null,
          blockTime: block.timestampSeconds,
          confirmationStatus: "confirmed",
        })),
    )
    .toReversed();
  const { before, limit = signaturesMax } = options;
  const startIndex =
    before === undefined
      ? 0
      : signatureInfos.findIndex((signatureInfo) => signatureInfo.signature === before) + 1;
  return before !== undefined && startIndex === 0
    ? []
    : signatureInfos.slice(startIndex, startIndex + limit);
};

const getTransactionError = ({ isSuccessful }: Transaction): unknown =>
  isSuccessful ? null : { InstructionError: [0, { Custom: 1 }] };

/** Returns a transfer's token program, the payer's account and the owner's account. */
const getTransferAccounts = ({ kind }: NodeView, from: string, { mint, to }: SolanaTransfer) => {
  const program = getTokenProgram(kind.tokens.find(({ address }) => address === mint)?.id ?? "");
  const getTokenAccount = (owner: string) => getCachedTokenAccount(owner, mint, program);
  return { program, source: getTokenAccount(from), destination: getTokenAccount(to) };
};

const tokenAccountCache = new Map<string, string>();
const getCachedTokenAccount = (owner: string, mint: string, program: string): string => {
  const name = `${owner} ${mint}`;
  const account =
    tokenAccountCache.get(name) ?? deriveAssociatedTokenAccount({ owner, mint, program });
  tokenAccountCache.set(name, account);
  return account;
};

const listAccountKeys = (view: NodeView, { from, transfers }: Transaction): readonly string[] => [
  ...new Set([
    from,
    ...transfers.flatMap((transfer) => {
      const { destination, program, source } = getTransferAccounts(view, from, transfer);
      const { mint, reference } = transfer;
      return [source, destination, mint, program, ...(reference === undefined ? [] : [reference])];
    }),
  ]),
];

const serializeTransaction = (view: NodeView, signature: string): unknown => {
  const transactionInBlock = findTransaction(view, signature);
  if (transactionInBlock === undefined || view.behavior.kind === "omits receipts") return null;
  const { block, transaction } = transactionInBlock;
  const { paddingBytes, from, isSuccessful, transfers } = transaction;
  const keys = listAccountKeys(view, transaction);
  const transfersWithAccounts = transfers.map((transfer) => ({
    transfer,
    ...getTransferAccounts(view, from, transfer),
  }));
  const getKeyIndex = (key: string): number => keys.indexOf(key);
  const balancesBefore = new Map(
    transfersWithAccounts.flatMap(({ destination, source }) => [
      [source, initialBalance],
      [destination, 0n],
    ]),
  );
  const balancesAfter = new Map(balancesBefore);
  for (const { destination, source, transfer } of isSuccessful ? transfersWithAccounts : []) {
    balancesAfter.set(source, (balancesAfter.get(source) ?? 0n) - BigInt(transfer.baseUnits));
    balancesAfter.set(
      destination,
      (balancesAfter.get(destination) ?? 0n) + BigInt(transfer.baseUnits),
    );
  }
  const serializeBalances = (balances: ReadonlyMap<string, bigint>) =>
    [...balances].map(([account, amount]) => {
      const transferAccounts = transfersWithAccounts.find(({ destination, source }) =>
        [destination, source].includes(account),
      );
      return {
        accountIndex: getKeyIndex(account),
        mint: transferAccounts?.transfer.mint,
        owner: account === transferAccounts?.source ? from : transferAccounts?.transfer.to,
        programId: transferAccounts?.program,
        uiTokenAmount: { amount: String(amount) },
      };
    });
  return {
    slot: block.slot,
    blockTime: block.timestampSeconds,
    version: "legacy",
    transaction: {
      signatures: [signature],
      message: {
        header: { numRequiredSignatures: 1 },
        accountKeys: keys,
        recentBlockhash: view.getHash(block),
        instructions: transfersWithAccounts.map(({ destination, program, source, transfer }) => ({
          programIdIndex: getKeyIndex(program),
          accounts: [source, transfer.mint, destination, from, transfer.reference]
            .filter((key) => key !== undefined)
            .map(getKeyIndex),
          data: encodeTransferChecked(BigInt(transfer.baseUnits)),
          stackHeight: 1,
        })),
      },
    },
    meta: {
      err: getTransactionError(transaction),
      innerInstructions: [],
      logMessages: ["0".repeat(paddingBytes * 2)],
      preTokenBalances: serializeBalances(balancesBefore),
      postTokenBalances: serializeBalances(balancesAfter),
      loadedAddresses: { writable: [], readonly: [] },
    },
  };
};

const decimals = 6;

const base58 = getBase58Decoder();
const transferChecked = getTransferCheckedInstructionDataEncoder();

const encodeTransferChecked = (amount: bigint): string =>
  base58.decode(transferChecked.encode({ amount, decimals }));

const catalogue = loadCatalogue();

/** Serializes a mint of the catalogue. */
const serializeCatalogueMint = (address: string): unknown => {
  const token = catalogue.tokens.find((candidate) => candidate.address === address);
  return token === undefined ? null : serializeMint(token.decimals, getTokenProgram(token.id));
};
