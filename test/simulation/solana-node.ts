import { getTransferCheckedInstructionDataEncoder } from "@solana-program/token";
import type { Address } from "@solana/kit";
import { deriveAssociatedTokenAccount } from "@payment-links/chains";
import { loadCatalogue } from "@payment-links/contracts";
import type { HandleRpc } from "@payment-links/local-chains/serve-json-rpc";
import { handleChainCall } from "@payment-links/local-chains/solana/chain-methods";
import type { ChainView } from "@payment-links/local-chains/solana/node-view";
import {
  serializeMint,
  serializeTokenAmount,
} from "@payment-links/local-chains/solana/token-account";
import { type Block, type SolanaTransfer, type Transaction, finalDepth } from "./block.ts";
import { findTokenProgram } from "./chain-kinds.ts";
import { type NodeView, findTransaction, servesOtherChain } from "./node-view.ts";

type ServedBlock = ReturnType<ChainView["findNewestBlock"]>;
type ServedTransaction = ServedBlock["transactions"][number];

const initialBalance = 10n ** 15n;

/** Returns a function that handles an RPC call like a Solana node. */
export const createSolanaNode = (view: NodeView): HandleRpc => {
  const chainView = createChainView(view);
  return (method, params) => {
    if (method === "getTransaction" && view.behavior.kind === "omits receipts") return null;
    if (method === "getMultipleAccounts")
      return { context: { slot: 0 }, value: (params[0] as string[]).map(serializeCatalogueMint) };
    return handleChainCall(chainView, method, params);
  };
};

/** All blocks of a node are confirmed. */
const createChainView = (view: NodeView): ChainView => {
  const { behavior, kind } = view;
  const blocks = view.blocks.map((block) => serveBlock(view, block));
  const [firstBlock] = blocks;
  if (firstBlock === undefined) throw new RangeError("a chain has at least one block");
  const hideNewer = ({ height }: ServedBlock) => ({
    ...view,
    blocks: view.blocks.slice(0, height + 1),
  });
  return {
    genesisHash: servesOtherChain(view) ? kind.alterHash(kind.nodeChainId) : kind.nodeChainId,
    blocks: () => blocks,
    findNewestBlock: (commitment) => {
      const height = blocks.length - 1 - (commitment === "finalized" ? finalDepth : 0);
      return blocks[height] ?? firstBlock;
    },
    findTransaction: (signature, newest) => {
      const transactionInBlock = findTransaction(hideNewer(newest), signature);
      if (transactionInBlock === undefined) return undefined;
      return serveTransaction(view, transactionInBlock.block, transactionInBlock.transaction);
    },
    listTransactions: (key, newest) => {
      if (behavior.kind === "omits logs") return [];
      return view.omitPruned(hideNewer(newest).blocks).flatMap((block) =>
        view
          .getTransactions(block)
          .filter((transaction) => listAccountKeys(view, transaction).includes(key as Address))
          .map((transaction) => serveTransaction(view, block, transaction)),
      );
    },
    firstSlot: () => view.blocks.find((block) => !view.isPruned(block))?.slot ?? 0,
    slotsBehind: () => 0,
    isArchive: () => false,
  };
};

const serveBlock = (view: NodeView, block: Block): ServedBlock => ({
  slot: block.slot,
  height: block.number,
  parentSlot: block.parent?.slot ?? 0,
  hash: view.getHash(block),
  parentHash: view.getHash(block.parent ?? block),
  timeSeconds: block.timestampSeconds,
  get transactions() {
    return view
      .getTransactions(block)
      .map((transaction) => serveTransaction(view, block, transaction));
  },
});

/** Returns a transfer's token program, the payer's account and the owner's account. */
const getTransferAccounts = ({ kind }: NodeView, from: string, { mint, to }: SolanaTransfer) => {
  const program = findTokenProgram(kind.tokens.find(({ address }) => address === mint)?.id ?? "");
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

const listAccountKeys = (view: NodeView, { from, transfers }: Transaction): readonly Address[] => {
  const keys = transfers.flatMap((transfer) => {
    const { destination, program, source } = getTransferAccounts(view, from, transfer);
    const { mint, reference } = transfer;
    return [source, destination, mint, program, ...(reference === undefined ? [] : [reference])];
  });
  return [...new Set([from, ...keys])] as Address[];
};

const decimals = 6;
const transferChecked = getTransferCheckedInstructionDataEncoder();

const serveTransaction = (
  view: NodeView,
  block: Block,
  transaction: Transaction,
): ServedTransaction => {
  const { paddingBytes, from, hash, isSuccessful, transfers } = transaction;
  const keys = listAccountKeys(view, transaction);
  const transfersWithAccounts = transfers.map((transfer) => ({
    transfer,
    ...getTransferAccounts(view, from, transfer),
  }));
  const getKeyIndex = (key: string): number => keys.indexOf(key as Address);
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
  const listBalances = (balances: ReadonlyMap<string, bigint>) =>
    [...balances].flatMap(([account, amount]) => {
      const matchedTransfer = transfersWithAccounts.find(({ destination, source }) =>
        [destination, source].includes(account),
      );
      if (matchedTransfer === undefined) return [];
      const { program, source, transfer } = matchedTransfer;
      const owner = account === source ? from : transfer.to;
      return {
        accountIndex: getKeyIndex(account),
        mint: transfer.mint,
        owner,
        programId: program,
        uiTokenAmount: serializeTokenAmount(amount, decimals),
      };
    });
  return {
    slot: block.slot,
    height: block.number,
    index: view.getTransactions(block).indexOf(transaction),
    signature: hash,
    signatures: [hash],
    // The listener requests JSON.
    bytes: new Uint8Array(),
    message: {
      version: "legacy",
      header: {
        numSignerAccounts: 1,
        numReadonlySignerAccounts: 0,
        numReadonlyNonSignerAccounts: 0,
      },
      staticAccounts: keys,
      lifetimeToken: view.getHash(block),
      instructions: transfersWithAccounts.map(({ destination, program, source, transfer }) => ({
        programAddressIndex: getKeyIndex(program),
        accountIndices: [source, transfer.mint, destination, from, transfer.reference]
          .filter((key) => key !== undefined)
          .map(getKeyIndex),
        data: new Uint8Array(
          transferChecked.encode({ amount: BigInt(transfer.baseUnits), decimals }),
        ),
      })),
    },
    loadedAddresses: { writable: [], readonly: [] },
    keys,
    writableKeys: [],
    err: isSuccessful ? null : { InstructionError: [0, { Custom: 1 }] },
    fee: 5_000n,
    preBalances: [],
    postBalances: [],
    preTokenBalances: listBalances(balancesBefore),
    postTokenBalances: listBalances(balancesAfter),
    innerInstructions: [],
    logs: ["0".repeat(paddingBytes * 2)],
    computeUnits: 0n,
  };
};

const catalogue = loadCatalogue();

/** Serializes a mint of the catalogue. */
const serializeCatalogueMint = (address: string): unknown => {
  const token = catalogue.tokens.find((candidate) => candidate.address === address);
  return token === undefined ? null : serializeMint(token.decimals, findTokenProgram(token.id));
};
