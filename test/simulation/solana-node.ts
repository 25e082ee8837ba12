import { openCatalogue, solanaTokenAccount } from "@payment-links/contracts";
import { type Block, type SolanaTransfer, type Transaction, finalDepth } from "./block.ts";
import { programOfToken } from "./chain-kinds.ts";
import { type Call, NodeError, type View, findTransaction, isOtherChain } from "./node-view.ts";

type Options = {
  commitment?: "confirmed" | "finalized";
  minContextSlot?: number;
  limit?: number;
  before?: string;
};

type BlockOptions = { transactionDetails?: "none" | "signatures" };

const signaturesMax = 1_000;
const plenty = 10n ** 15n;

/** A call as a node of Solana answers it; codes are Agave's. */
export const answerSolanaCall = (view: View, { method, params }: Call): unknown => {
  switch (method) {
    case "getGenesisHash":
      return isOtherChain(view)
        ? view.kind.otherHash(view.kind.nodeChainId)
        : view.kind.nodeChainId;
    case "getFirstAvailableBlock":
      return keptBy(view)[0]?.slot ?? 0;
    case "getSlot":
      return topOf(view, params[0] as Options).slot;
    case "getBlocks":
      return listSlots(view, params as [number, number, Options]);
    case "getBlock":
      return showBlock(view, params[0] as number, params[1] as BlockOptions);
    case "getSignaturesForAddress":
      return listSignatures(view, params[0] as string, params[1] as Options);
    case "getTransaction":
      return showTransaction(view, params[0] as string);
    case "getMultipleAccounts":
      return { context: { slot: 0 }, value: (params[0] as string[]).map(showMint) };
    default:
      throw new NodeError("Method not found", -32_601);
  }
};

/** What a node sees is confirmed. */
const topOf = ({ blocks }: View, { commitment, minContextSlot = 0 }: Options): Block => {
  const height = blocks.length - 1 - (commitment === "finalized" ? finalDepth : 0);
  const top = blocks[Math.max(0, height)];
  if (top === undefined) throw new NodeError("Block not available", -32_004);
  if (minContextSlot > top.slot) {
    throw new NodeError("Minimum context slot has not been reached", -32_016);
  }
  return top;
};

/** What its ledger still has. */
const keptBy = (view: View): readonly Block[] =>
  view.blocks.filter((block) => !view.hasForgotten(block));

const listSlots = (view: View, [from, to, options]: [number, number, Options]): number[] => {
  const top = topOf(view, options).slot;
  return keptBy(view)
    .map(({ slot }) => slot)
    .filter((slot) => slot >= from && slot <= Math.min(to, top));
};

const showBlock = (
  view: View,
  slot: number,
  { transactionDetails }: BlockOptions = {},
): unknown => {
  const block = view.blocks.find((one) => one.slot === slot);
  if (block === undefined && slot > (view.blocks.at(-1)?.slot ?? 0)) {
    throw new NodeError(`Block not available for slot ${slot}`, -32_004);
  }
  const first = keptBy(view)[0]?.slot ?? 0;
  if (slot < first) {
    const told = `First available block: ${first}`;
    throw new NodeError(`Block ${slot} cleaned up, does not exist on node. ${told}`, -32_001);
  }
  if (block === undefined) throw new NodeError(`Slot ${slot} was skipped`, -32_007);
  const { number, parent, timestampSeconds } = block;
  return {
    blockhash: view.hashOf(block),
    previousBlockhash: view.hashOf(parent ?? block),
    parentSlot: parent?.slot ?? 0,
    blockHeight: number,
    blockTime: timestampSeconds,
    ...(transactionDetails === "signatures" && {
      signatures: view.transactionsOf(block).map(({ hash }) => hash),
    }),
  };
};

const listSignatures = (view: View, account: string, options: Options): unknown => {
  topOf(view, options);
  if (view.manner.kind === "omits logs") return [];
  const listed = view
    .leaveOut(view.blocks)
    .flatMap((block) =>
      view
        .transactionsOf(block)
        .filter((one) => keysOf(view, one).includes(account))
        .map((one) => ({
          signature: one.hash,
          slot: block.slot,
          err: errorOf(one),
          memo: null,
          blockTime: block.timestampSeconds,
          confirmationStatus: "confirmed",
        })),
    )
    .toReversed();
  const { before, limit = signaturesMax } = options;
  const at = before === undefined ? 0 : listed.findIndex((one) => one.signature === before) + 1;
  return before !== undefined && at === 0 ? [] : listed.slice(at, at + limit);
};

const errorOf = ({ isSuccessful }: Transaction): unknown =>
  isSuccessful ? null : { InstructionError: [0, { Custom: 1 }] };

/** A transfer's accounts: its payer's, the owner's, and the mint. */
const accountsOf = ({ kind }: View, from: string, { mint, to }: SolanaTransfer) => {
  const program = programOfToken(kind.tokens.find(({ address }) => address === mint)?.id ?? "");
  const accountOf = (owner: string) => solanaTokenAccountOf(owner, mint, program);
  return { program, source: accountOf(from), destination: accountOf(to) };
};

const derived = new Map<string, string>();
const solanaTokenAccountOf = (owner: string, mint: string, program: string): string => {
  const name = `${owner} ${mint}`;
  const account = derived.get(name) ?? solanaTokenAccount({ owner, mint, program });
  derived.set(name, account);
  return account;
};

const keysOf = (view: View, { from, transfers }: Transaction): readonly string[] => [
  ...new Set([
    from,
    ...transfers.flatMap((transfer) => {
      const { destination, program, source } = accountsOf(view, from, transfer);
      const { mint, reference } = transfer;
      return [source, destination, mint, program, ...(reference === undefined ? [] : [reference])];
    }),
  ]),
];

const showTransaction = (view: View, signature: string): unknown => {
  const found = findTransaction(view, signature);
  if (found === undefined || view.manner.kind === "omits receipts") return null;
  const { block, transaction } = found;
  const { ballastBytes, from, isSuccessful, transfers } = transaction;
  const keys = keysOf(view, transaction);
  const placed = transfers.map((transfer) => ({
    transfer,
    ...accountsOf(view, from, transfer),
  }));
  const at = (key: string): number => keys.indexOf(key);
  const before = new Map(
    placed.flatMap(({ destination, source }) => [
      [source, plenty],
      [destination, 0n],
    ]),
  );
  const after = new Map(before);
  for (const { destination, source, transfer } of isSuccessful ? placed : []) {
    after.set(source, (after.get(source) ?? 0n) - BigInt(transfer.units));
    after.set(destination, (after.get(destination) ?? 0n) + BigInt(transfer.units));
  }
  const show = (balances: ReadonlyMap<string, bigint>) =>
    [...balances].map(([account, amount]) => {
      const one = placed.find(({ destination, source }) => [destination, source].includes(account));
      return {
        accountIndex: at(account),
        mint: one?.transfer.mint,
        owner: account === one?.source ? from : one?.transfer.to,
        programId: one?.program,
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
        recentBlockhash: view.hashOf(block),
        instructions: placed.map(({ destination, program, source, transfer }) => ({
          programIdIndex: at(program),
          accounts: [source, transfer.mint, destination, from, transfer.reference]
            .filter((key) => key !== undefined)
            .map(at),
          data: transferChecked(BigInt(transfer.units)),
          stackHeight: 1,
        })),
      },
    },
    meta: {
      err: errorOf(transaction),
      innerInstructions: [],
      logMessages: ["0".repeat(ballastBytes * 2)],
      preTokenBalances: show(before),
      postTokenBalances: show(after),
      loadedAddresses: { writable: [], readonly: [] },
    },
  };
};

const decimals = 6;

/** The data of `TransferChecked`: kind 12, 8 bytes of amount from the lowest, decimals. */
const transferChecked = (units: bigint): string => {
  const bytes = Buffer.alloc(10);
  bytes[0] = 12;
  bytes.writeBigUInt64LE(units, 1);
  bytes[9] = decimals;
  return base58Of(bytes);
};

const digits = "123456789ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz";

/** Bytes of which the first is not 0, in base58. */
const base58Of = (bytes: Buffer): string => {
  let text = "";
  for (let rest = BigInt(`0x${bytes.toString("hex")}`); rest > 0n; rest /= 58n) {
    text = `${digits[Number(rest % 58n)]}${text}`;
  }
  return text;
};

const catalogue = openCatalogue();
const mintBytes = 82;

/** A mint of the catalogue, as its program keeps it. */
const showMint = (address: string): unknown => {
  const token = catalogue.tokens.find((one) => one.address === address);
  if (token === undefined) return null;
  const data = Buffer.alloc(mintBytes);
  data[44] = token.decimals;
  data[45] = 1;
  return { data: [data.toString("base64"), "base64"], owner: programOfToken(token.id) };
};
