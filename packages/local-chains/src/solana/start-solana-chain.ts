import { randomBytes } from "node:crypto";
import {
  type Address,
  type Instruction,
  type KeyPairSigner,
  address,
  getAddressDecoder,
  getAddressEncoder,
} from "@solana/kit";
import {
  getInitializeAccount3Instruction,
  getTransferCheckedInstruction,
} from "@solana-program/token";
import {
  type Token,
  type TokenName,
  findAssociatedAccount,
  createMintInstructions,
  listTokens,
  createMintToInstruction,
  createAssociatedAccountInstruction,
} from "./create-tokens.ts";
import { openBlockJournal } from "./block-journal.ts";
import { createCatalogueData } from "./create-catalogue-data.ts";
import { type SolanaNode, startNode } from "./start-node.ts";
import { type Landing, type Ledger, createLedger } from "./create-ledger.ts";
import {
  executeTransaction,
  readAccount,
  decodeTransaction,
  writeAccount,
} from "./execute-transaction.ts";
import {
  type SignedTransaction,
  createAccountInstruction,
  createUnitLimitInstruction,
  createSigner,
  signEncodedTransaction,
  signVersion1Transaction,
  signTransaction,
  createLamportTransferInstruction,
  withReferences,
  createMemoInstruction,
} from "./sign-transaction.ts";
import { decodeHolding } from "./token-account.ts";

export type { Landing } from "./create-ledger.ts";
export type { SolanaNode } from "./start-node.ts";
export type { TokenName } from "./create-tokens.ts";

/** More than any test spends, but each transfer still fits into 64 bits. */
const initialBalance = 10n ** 17n;
const payerLamports = 10n ** 13n;
const accountLength = 165;

/** An order to pay an owner. `to` is the owner's wallet, and the amount is in base units. */
export type SolanaOrder = {
  to: string;
  amount: bigint;
  /** The keys to add to the transfer. There are none by default. */
  references?: readonly string[];
  token?: TokenName;
  memo?: string;
  /** The index of the payer. The default is the first one. */
  payer?: 0 | 1 | 2;
  /** A token account of the owner to pay instead of the associated one. */
  account?: string;
  /** Whether to send a versioned transaction that takes keys from a lookup table. */
  usesLookupTable?: boolean;
  /** Whether to use a transaction of version 1. */
  isVersion1?: boolean;
  /** The number of extra bytes after the transfer's own data. */
  trailingBytes?: number;
};

type ChainOptions = {
  /** The numbers of blocks by which `confirmed` and `finalized` lag behind the head. */
  confirmedLag?: number;
  finalizedLag?: number;
  port?: number;
  /** The file in which blocks are stored. The next chain with this file continues with them. */
  journalFile?: string;
  /** Returns the time for blocks whose time is not set, in Unix seconds. */
  now?: () => number;
};

export type LocalSolanaChain = Awaited<ReturnType<typeof startSolanaChain>>;

/**
 * Starts a local Solana chain. It is a real VM with tokens of both token programs and funded
 * payers, behind a node's JSON-RPC API. Blocks are produced only on request.
 */
export const startSolanaChain = async ({
  confirmedLag = 1,
  finalizedLag = 32,
  port,
  journalFile,
  now = () => Math.floor(Date.now() / 1000),
}: ChainOptions = {}) => {
  const ledger = createLedger({ now });
  const tokens = await listTokens();
  const payers = await Promise.all(
    ["one", "two", "three"].map((name) => createSigner(`payer ${name}`)),
  );
  const context: ChainContext = { ledger, tokens, payers, finalizedLag, serial: { lastNumber: 0 } };
  await issueTokens(context);
  const genesisHash = ledger.head().hash;
  const journal = journalFile === undefined ? undefined : openBlockJournal(ledger, journalFile);
  const lags = { confirmedLag, finalizedLag };
  const nodes: SolanaNode[] = [];
  const startChainNode = async (port?: number): Promise<SolanaNode> => {
    const node = await startNode(ledger, { lags, port });
    nodes.push(node);
    return node;
  };
  const node = await startChainNode(port);
  return {
    ...createPayments(context),
    ...createControls(ledger, lags),
    /**
     * Produces blocks in the next slots. The first one contains the queued transactions. Returns
     * the last slot.
     */
    mine: (count = 1): number => {
      for (let index = 0; index < count; index += 1) ledger.produce();
      journal?.record();
      return ledger.head().slot;
    },
    /** The node at `url`. */
    node,
    url: node.url,
    genesisHash,
    /** The data of the chain and its tokens for the catalogue. */
    catalogueData: createCatalogueData(tokens, genesisHash),
    tokens,
    payers: payers.map((payer) => payer.address),
    issuer: (await createSigner("issuer")).address,
    /** Starts another node of the same chain. It can lag or stay on another fork. */
    startNode: () => startChainNode(),
    /**
     * Returns the current balance of a token in all accounts of an owner, regardless of how it was
     * received.
     */
    readReceived: (owner: string, name: TokenName): bigint => {
      const { mint, program } = findToken(context, name);
      return ledger.svm
        .getProgramAccounts(program)
        .map((account) => decodeHolding(readAccount(ledger.svm, account.address)))
        .filter((holding) => holding?.mint === mint && holding.owner === owner)
        .reduce((sum, holding) => sum + (holding?.amount ?? 0n), 0n);
    },
    findTokenAccount: (owner: string, name: TokenName): Promise<Address> =>
      findAssociatedAccount(findToken(context, name), address(owner)),
    /**
     * Creates an off-curve account that belongs to a program, like a vault. Returns its address.
     */
    createVault: async (program: VaultProgram): Promise<Address> => {
      const [usdc] = tokens.values();
      if (usdc === undefined) throw new Error("there is no token");
      // A derived address is off-curve, so it has no private key.
      const vault = await findAssociatedAccount(usdc, freshAddress());
      writeAccount(ledger.svm, vault, {
        lamports: ledger.svm.minimumBalanceForRentExemption(0n),
        data: new Uint8Array(),
        owner: address(vaultPrograms[program]),
        isExecutable: false,
      });
      return vault;
    },
    close: async (): Promise<void> => {
      await Promise.all(nodes.map((chainNode) => chainNode.close()));
    },
  };
};

type VaultProgram = keyof typeof vaultPrograms;
const vaultPrograms = {
  system: "11111111111111111111111111111111",
  squads: "SQDS4ep65T869zMMBKyuUq6aD6EgTu8psMjkvj52pCf",
};

/**
 * Returns a random address without a known key. It is used as a reference, or as an owner that only
 * receives.
 */
export const freshAddress = (): Address => getAddressDecoder().decode(randomBytes(32));

type ChainContext = {
  ledger: Ledger;
  tokens: ReadonlyMap<TokenName, Token>;
  payers: readonly KeyPairSigner[];
  finalizedLag: number;
  serial: { lastNumber: number };
};

const createControls = (ledger: Ledger, lags: { confirmedLag: number; finalizedLag: number }) => ({
  /** Skips slots without producing blocks. */
  skip: (count = 1): void => ledger.skip(count),
  /** Returns whether any transaction is queued, or is in a block that is not final yet. */
  hasUnfinalizedTransactions: (): boolean =>
    ledger.countPending() > 0 ||
    ledger.blocks.slice(-lags.finalizedLag).some(({ transactions }) => transactions.length > 0),
  /** Returns the newest slot that has a block. */
  getHeadSlot: (): number => ledger.head().slot,
  /** Returns the number of blocks above genesis. */
  getHeight: (): number => ledger.head().height,
  /** Returns the slot of the block that contains a transaction, or undefined if there is none. */
  findSlot: (signature: string): number | undefined =>
    ledger.listLandings(signature).find(({ slot, height }) => ledger.blocks[height]?.slot === slot)
      ?.slot,
  /**
   * Replaces the newest blocks with a fork of the same length in later slots. Only the given
   * transactions land again on the fork. Final blocks cannot be replaced unless `breaksFinality` is
   * set.
   */
  reorg: (
    depth: number,
    relandings: readonly Landing[] = [],
    { breaksFinality = false } = {},
  ): void => {
    if (depth > lags.finalizedLag && !breaksFinality) {
      throw new Error(`a fork of ${depth} blocks would replace final blocks`);
    }
    ledger.fork(depth, relandings);
  },
  /** Drops the queued transactions. */
  dropPending: (): void => ledger.dropPending(),
  /** Sets the next block's time, in Unix seconds. */
  setNextBlockTime: (seconds: number): void => ledger.setNextBlockTime(seconds),
});

const createPayments = (context: ChainContext) => ({
  /** Pays with one transaction that is queued for the next block. Returns its signature. */
  pay: (order: SolanaOrder): Promise<string> => payInOneTransaction(context, [order]),
  /** Makes several payments in one transaction. */
  payInOneTransaction: (orders: readonly SolanaOrder[]): Promise<string> =>
    payInOneTransaction(context, orders),
  /** Makes several payments with a single batch instruction. */
  payBatch: async (orders: readonly SolanaOrder[]): Promise<string> => {
    const payer = findPayer(context, 0);
    const accountCreations: Instruction[] = [];
    const transferInstructions: Instruction[] = [];
    for (const order of orders) {
      const instructions = await createTransferInstructions(context, order, payer);
      accountCreations.push(...instructions.slice(0, -1));
      transferInstructions.push(...instructions.slice(-1));
    }
    return send(
      context,
      [...accountCreations, createBatchInstruction(transferInstructions)],
      payer,
    );
  },
  /** Signs several payments in one transaction without sending it. */
  sign: (orders: readonly SolanaOrder[]): Promise<SignedTransaction> =>
    signPayments(context, orders),
  /** Signs a base64 transaction that was built elsewhere, as a payer's wallet does. */
  signEncoded: (encodedTransaction: string, payer: 0 | 1 | 2 = 0): Promise<SignedTransaction> =>
    signEncodedTransaction(encodedTransaction, findPayer(context, payer)),
  send: ({ bytes }: SignedTransaction): void => context.ledger.submit(bytes),
  /** Sends a transaction that has the references but transfers nothing. */
  payForged: async ({ to, references = [], payer = 0 }: SolanaOrder): Promise<string> => {
    const from = findPayer(context, payer);
    const emptyTransfer = createLamportTransferInstruction({ from, to, lamports: 0n });
    return await send(context, [withReferences(emptyTransfer, references)], from);
  },
  /** Pays in SOL. */
  payCoin: async ({ to, amount, references = [], payer = 0 }: SolanaOrder): Promise<string> => {
    const from = findPayer(context, payer);
    const lamportTransfer = createLamportTransferInstruction({ from, to, lamports: amount });
    return await send(context, [withReferences(lamportTransfer, references)], from);
  },
  /**
   * Tries to pay more than the balance. The failed transaction and its references are then in a
   * block.
   */
  payFailing: (order: SolanaOrder): Promise<string> =>
    payInOneTransaction(context, [{ ...order, amount: initialBalance * 100n }]),
  /**
   * Mints tokens into the owner's associated token account, as a bridge does. The issuer pays the
   * fee.
   */
  mintTokens: async ({ to, amount, token: name = "usdc" }: SolanaOrder): Promise<string> => {
    const [issuer, token] = [await createSigner("issuer"), findToken(context, name)];
    const owner = address(to);
    const associatedAddress = await findAssociatedAccount(token, owner);
    const hasAccount = readAccount(context.ledger.svm, associatedAddress) !== undefined;
    const accountCreation = hasAccount
      ? []
      : [await createAssociatedAccountInstruction(token, { owner, payer: issuer })];
    return send(
      context,
      [...accountCreation, await createMintToInstruction(token, { owner, amount, issuer })],
      issuer,
    );
  },
  /**
   * Queues a transaction that creates another token account of an owner. Returns the address of the
   * account.
   */
  createTokenAccount: async (owner: string, name: TokenName): Promise<Address> => {
    const [from, token] = [findPayer(context, 0), findToken(context, name)];
    const account = await createSigner(`account ${(context.serial.lastNumber += 1)}`);
    const bytes = token.name === "fee" ? feeAccountLength : accountLength;
    const lamports = context.ledger.svm.minimumBalanceForRentExemption(BigInt(bytes));
    const createInstruction = createAccountInstruction({
      payer: from,
      account,
      lamports,
      bytes,
      owner: token.program,
    });
    const accountConfig = { account: account.address, mint: token.mint, owner: address(owner) };
    const programAddress = token.program;
    const initializeInstruction = getInitializeAccount3Instruction(accountConfig, {
      programAddress,
    });
    await send(context, [createInstruction, initializeInstruction], from);
    return account.address;
  },
  /** Queues a transaction that creates an owner's associated token account. */
  createAssociatedAccount: async (owner: string, name: TokenName): Promise<void> => {
    const payer = findPayer(context, 0);
    const token = findToken(context, name);
    await send(
      context,
      [await createAssociatedAccountInstruction(token, { owner: address(owner), payer })],
      payer,
    );
  },
});

/** The length of a token account with the extension for withheld fees. */
const feeAccountLength = 182;

const findToken = ({ tokens }: ChainContext, name: TokenName): Token => {
  const token = tokens.get(name);
  if (token === undefined) throw new Error(`there is no token ${name}`);
  return token;
};

const findPayer = ({ payers }: ChainContext, index: number): KeyPairSigner => {
  const payer = payers[index];
  if (payer === undefined) throw new Error(`there is no payer ${index}`);
  return payer;
};

/**
 * Returns the hash of a final block. Wallets use such a blockhash because no fork can replace its
 * block.
 */
const chooseBlockhash = ({ ledger, finalizedLag }: ChainContext): string =>
  ledger.blocks.at(-1 - Math.min(finalizedLag, ledger.head().height))?.hash ?? "";

const send = async (
  context: ChainContext,
  instructions: readonly Instruction[],
  payer: KeyPairSigner,
): Promise<string> => {
  const limitInstruction = createUnitLimitInstruction((context.serial.lastNumber += 1));
  const blockhash = chooseBlockhash(context);
  const signed = await signTransaction({
    payer,
    instructions: [limitInstruction, ...instructions],
    blockhash,
  });
  context.ledger.submit(signed.bytes);
  return signed.signature;
};

const payInOneTransaction = async (
  context: ChainContext,
  orders: readonly SolanaOrder[],
): Promise<string> => {
  const signed = await signPayments(context, orders);
  context.ledger.submit(signed.bytes);
  return signed.signature;
};

const signPayments = async (
  context: ChainContext,
  orders: readonly SolanaOrder[],
): Promise<SignedTransaction> => {
  const payer = findPayer(context, orders[0]?.payer ?? 0);
  const serial = (context.serial.lastNumber += 1);
  const transfers: Instruction[] = [];
  for (const order of orders)
    transfers.push(...(await createTransferInstructions(context, order, payer)));
  const blockhash = chooseBlockhash(context);
  if (orders.some(({ isVersion1 }) => isVersion1 === true)) {
    return await signVersion1Transaction({ payer, instructions: transfers, blockhash, serial });
  }
  const instructions = [createUnitLimitInstruction(serial), ...transfers];
  if (!orders.some(({ usesLookupTable }) => usesLookupTable === true)) {
    return await signTransaction({ payer, instructions, blockhash });
  }
  const tables = writeLookupTable(context, instructions);
  return await signTransaction({ payer, instructions, blockhash, tables });
};

const createTransferInstructions = async (
  context: ChainContext,
  order: SolanaOrder,
  payer: KeyPairSigner,
): Promise<Instruction[]> => {
  const token = findToken(context, order.token ?? "usdc");
  const owner = address(order.to);
  const associatedAddress = await findAssociatedAccount(token, owner);
  const hasAccount =
    order.account !== undefined || readAccount(context.ledger.svm, associatedAddress) !== undefined;
  const transferInstruction = getTransferCheckedInstruction(
    {
      source: await findAssociatedAccount(token, payer.address),
      mint: token.mint,
      destination: order.account === undefined ? associatedAddress : address(order.account),
      authority: payer,
      amount: order.amount,
      decimals: token.decimals,
    },
    { programAddress: token.program },
  );
  const data = new Uint8Array([
    ...transferInstruction.data,
    ...new Uint8Array(order.trailingBytes ?? 0),
  ]);
  return [
    ...(order.memo === undefined ? [] : [createMemoInstruction(order.memo)]),
    ...(hasAccount ? [] : [await createAssociatedAccountInstruction(token, { owner, payer })]),
    withReferences({ ...transferInstruction, data }, order.references ?? []),
  ];
};

const batchInstruction = 255;

/** Combines instructions of the same token program into one `batch` instruction (SIMD-0266). */
const createBatchInstruction = (instructions: readonly Instruction[]): Instruction => {
  const [firstInstruction] = instructions;
  if (firstInstruction === undefined) throw new Error("the batch has no payments");
  const encodedParts = instructions.flatMap(({ accounts = [], data = new Uint8Array() }) => [
    accounts.length,
    data.length,
    ...data,
  ]);
  return {
    programAddress: firstInstruction.programAddress,
    accounts: instructions.flatMap(({ accounts = [] }) => accounts),
    data: new Uint8Array([batchInstruction, ...encodedParts]),
  };
};

const tableHeaderBytes = 56;
const addressBytes = 32;

/**
 * Writes a lookup table with all keys of the instructions directly to the VM, without a transaction
 * in a block.
 */
const writeLookupTable = ({ ledger }: ChainContext, instructions: readonly Instruction[]) => {
  const keys = instructions.flatMap(({ accounts = [] }) =>
    accounts.map((account) => account.address),
  );
  const uniqueKeys = [...new Set(keys)];
  const data = Buffer.alloc(tableHeaderBytes + uniqueKeys.length * addressBytes);
  data.writeUInt32LE(1, 0);
  data.writeBigUInt64LE(2n ** 64n - 1n, 4);
  uniqueKeys.forEach((key, index) =>
    data.set(getAddressEncoder().encode(key), tableHeaderBytes + index * addressBytes),
  );
  const table = freshAddress();
  writeAccount(ledger.svm, table, {
    lamports: ledger.svm.minimumBalanceForRentExemption(BigInt(data.length)),
    data: new Uint8Array(data),
    owner: address("AddressLookupTab1e1111111111111111111111111"),
    isExecutable: false,
  });
  return { [table]: uniqueKeys };
};

/** Creates the tokens and funds the payers before the first block is produced. */
const issueTokens = async (context: ChainContext): Promise<void> => {
  const { svm } = context.ledger;
  const issuer = await createSigner("issuer");
  for (const { address: holderAddress } of [issuer, ...context.payers]) {
    svm.airdrop(holderAddress, payerLamports as never);
  }
  for (const token of context.tokens.values()) {
    await executeNow(context, issuer, await createMintInstructions(svm, { token, issuer }));
    for (const { address: owner } of context.payers) {
      await executeNow(context, issuer, [
        await createAssociatedAccountInstruction(token, { owner, payer: issuer }),
        await createMintToInstruction(token, { owner, amount: initialBalance, issuer }),
      ]);
    }
  }
};

const executeNow = async (
  { ledger }: ChainContext,
  payer: KeyPairSigner,
  instructions: readonly Instruction[],
): Promise<void> => {
  const blockhash = ledger.head().hash;
  const { bytes } = await signTransaction({ payer, instructions, blockhash });
  const result = executeTransaction(ledger.svm, decodeTransaction(ledger.svm, bytes));
  if ("refusedFor" in result || result.execution.err !== null) {
    throw new Error(`a token could not be created: ${JSON.stringify(result, serializeBigInt)}`);
  }
};

const serializeBigInt = (_key: string, value: unknown): unknown =>
  typeof value === "bigint" ? String(value) : value;
