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
  associatedAccount,
  createMint,
  listTokens,
  mintTo,
  openAssociated,
} from "./create-tokens.ts";
import { openBlockJournal } from "./block-journal.ts";
import { catalogueOf } from "./catalogue-of.ts";
import { type SolanaNode, openNode } from "./open-node.ts";
import { type Landing, type Ledger, openLedger } from "./open-ledger.ts";
import {
  executeTransaction,
  readAccount,
  readTransaction,
  writeAccount,
} from "./execute-transaction.ts";
import {
  type Signed,
  createAccount,
  limitUnits,
  openSigner,
  signGiven,
  signNewest,
  signTransaction,
  transferLamports,
  withReferences,
  writeMemo,
} from "./sign-transaction.ts";
import { readHolding } from "./token-account.ts";

export type { Landing } from "./open-ledger.ts";
export type { SolanaNode } from "./open-node.ts";
export type { TokenName } from "./create-tokens.ts";

/** More than any test spends, and each transfer fits into 64 bits. */
const plenty = 10n ** 17n;
const lamportsOfPayers = 10n ** 13n;
const accountBytes = 165;

/** What a payer pays; the amount is in base units, `to` the owner's wallet. */
export type SolanaOrder = {
  to: string;
  amount: bigint;
  /** Keys that the transfer names; none if not given. */
  references?: readonly string[];
  token?: TokenName;
  memo?: string;
  /** Which of the three payers; the first if not given. */
  payer?: 0 | 1 | 2;
  /** A token account of the owner that is not the usual one. */
  account?: string;
  /** Whether keys are taken from a look-up table, by a versioned transaction. */
  usesTable?: boolean;
  /** Whether it is a transaction of version 1. */
  isNewest?: boolean;
  /** So many bytes more behind the transfer's own. */
  trailingBytes?: number;
};

type ChainOptions = {
  /** How many blocks behind the head `confirmed` and `finalized` are. */
  confirmedLag?: number;
  finalizedLag?: number;
  port?: number;
  /** Where the blocks are kept, so that the next chain goes on where this one stood. */
  journalFile?: string;
  /** The chain's time where a block is given none, in Unix seconds. */
  now?: () => number;
};

export type SolanaChain = Awaited<ReturnType<typeof openSolanaChain>>;

/**
 * Opens a local Solana: a real VM with tokens of both token programs and payers who hold plenty,
 * behind a node's JSON-RPC. It makes blocks only when it is told to.
 */
export const openSolanaChain = async ({
  confirmedLag = 1,
  finalizedLag = 32,
  port,
  journalFile,
  now = () => Math.floor(Date.now() / 1000),
}: ChainOptions = {}) => {
  const ledger = openLedger({ now });
  const tokens = await listTokens();
  const payers = await Promise.all(
    ["one", "two", "three"].map((name) => openSigner(`payer ${name}`)),
  );
  const hands: Hands = { ledger, tokens, payers, finalizedLag, serial: { last: 0 } };
  await issue(hands);
  const genesisHash = ledger.head().hash;
  const journal = journalFile === undefined ? undefined : openBlockJournal(ledger, journalFile);
  const lags = { confirmedLag, finalizedLag };
  const nodes: SolanaNode[] = [];
  const open = async (port?: number): Promise<SolanaNode> => {
    const node = await openNode(ledger, { lags, ...(port === undefined ? {} : { port }) });
    nodes.push(node);
    return node;
  };
  const node = await open(port);
  return {
    ...payments(hands),
    ...control(ledger, lags),
    /** Makes blocks in the next slots; what waits stands in the first. Answers the last slot. */
    mine: (count = 1): number => {
      for (let made = 0; made < count; made += 1) ledger.produce();
      journal?.record();
      return ledger.head().slot;
    },
    /** The node at `url`. */
    node,
    url: node.url,
    genesisHash,
    /** The chain and its tokens, as a catalogue has them. */
    catalogueData: catalogueOf(tokens, genesisHash),
    tokens,
    payers: payers.map((payer) => payer.address),
    issuer: (await openSigner("issuer")).address,
    /** Opens one more node of the same chain, which may lag or be on another fork. */
    openNode: () => open(),
    /** What an owner's accounts of a token hold now, however it came there. */
    received: (owner: string, name: TokenName): bigint => {
      const { mint, program } = tokenOf(hands, name);
      return ledger.svm
        .getProgramAccounts(program)
        .map((account) => readHolding(readAccount(ledger.svm, account.address)))
        .filter((holding) => holding?.mint === mint && holding.owner === owner)
        .reduce((sum, holding) => sum + (holding?.amount ?? 0n), 0n);
    },
    accountOf: (owner: string, name: TokenName): Promise<Address> =>
      associatedAccount(tokenOf(hands, name), address(owner)),
    /** Creates an off-curve account of a program, as vaults are. Returns its address. */
    openVault: async (program: VaultProgram): Promise<Address> => {
      const [usdc] = tokens.values();
      if (usdc === undefined) throw new Error("there is no token");
      // Nobody has the key of a derived address.
      const vault = await associatedAccount(usdc, freshAddress());
      writeAccount(ledger.svm, vault, {
        lamports: ledger.svm.minimumBalanceForRentExemption(0n),
        data: new Uint8Array(),
        owner: address(vaultPrograms[program]),
        isExecutable: false,
      });
      return vault;
    },
    close: async (): Promise<void> => {
      await Promise.all(nodes.map((one) => one.close()));
    },
  };
};

type VaultProgram = keyof typeof vaultPrograms;
const vaultPrograms = {
  system: "11111111111111111111111111111111",
  squads: "SQDS4ep65T869zMMBKyuUq6aD6EgTu8psMjkvj52pCf",
};

/** A fresh address whose key nobody has, as a reference is, or an owner's that only receives. */
export const freshAddress = (): Address => getAddressDecoder().decode(randomBytes(32));

type Hands = {
  ledger: Ledger;
  tokens: ReadonlyMap<TokenName, Token>;
  payers: readonly KeyPairSigner[];
  finalizedLag: number;
  serial: { last: number };
};

const control = (ledger: Ledger, lags: { confirmedLag: number; finalizedLag: number }) => ({
  /** Lets slots pass without a block. */
  skip: (count = 1): void => ledger.skip(count),
  /** Whether a transaction waits for a block, or is in one that is not final yet. */
  isBusy: (): boolean =>
    ledger.waitingCount() > 0 ||
    ledger.blocks.slice(-lags.finalizedLag).some(({ transactions }) => transactions.length > 0),
  /** The newest slot with a block. */
  head: (): number => ledger.head().slot,
  /** How many blocks there are above genesis. */
  height: (): number => ledger.head().height,
  /** The slot of a transaction's block; undefined if it is in none. */
  slotOf: (signature: string): number | undefined =>
    ledger.landingsOf(signature).find(({ slot, height }) => ledger.blocks[height]?.slot === slot)
      ?.slot,
  /**
   * Another fork wins: the newest blocks are gone, as many others follow in later slots, and only the
   * given transactions land in them again. Blocks that are final stay, unless a test breaks that rule.
   */
  reorg: (depth: number, again: readonly Landing[] = [], { breaksFinality = false } = {}): void => {
    if (depth > lags.finalizedLag && !breaksFinality) {
      throw new Error(`${depth} blocks reach below the last final one`);
    }
    ledger.fork(depth, again);
  },
  /** Drops what waits for a block. */
  dropWaiting: (): void => ledger.dropWaiting(),
  /** The next block's time, in Unix seconds. */
  setTime: (seconds: number): void => ledger.setTime(seconds),
});

const payments = (hands: Hands) => ({
  /** Pays in one transaction, which waits for a block. Answers its signature. */
  pay: (order: SolanaOrder): Promise<string> => payTogether(hands, [order]),
  /** Several payments in one transaction. */
  payTogether: (orders: readonly SolanaOrder[]): Promise<string> => payTogether(hands, orders),
  /** The same, as one instruction that runs them all. */
  payBatch: async (orders: readonly SolanaOrder[]): Promise<string> => {
    const payer = payerOf(hands, 0);
    const openings: Instruction[] = [];
    const moves: Instruction[] = [];
    for (const order of orders) {
      const instructions = await transfer(hands, order, payer);
      openings.push(...instructions.slice(0, -1));
      moves.push(...instructions.slice(-1));
    }
    return send(hands, [...openings, batchOf(moves)], payer);
  },
  /** The same, signed and not sent. */
  sign: (orders: readonly SolanaOrder[]): Promise<Signed> => signPayments(hands, orders),
  /** Signs a transaction that somebody else made, in base64, as a payer's wallet would. */
  signGiven: (text: string, payer: 0 | 1 | 2 = 0): Promise<Signed> =>
    signGiven(text, payerOf(hands, payer)),
  send: ({ bytes }: Signed): void => hands.ledger.submit(bytes),
  /** Names the references and moves nothing. */
  payForged: async ({ to, references = [], payer = 0 }: SolanaOrder): Promise<string> => {
    const from = payerOf(hands, payer);
    const nothing = transferLamports({ from, to, lamports: 0n });
    return await send(hands, [withReferences(nothing, references)], from);
  },
  /** Pays the chain's own coin. */
  payCoin: async ({ to, amount, references = [], payer = 0 }: SolanaOrder): Promise<string> => {
    const from = payerOf(hands, payer);
    const transfer = transferLamports({ from, to, lamports: amount });
    return await send(hands, [withReferences(transfer, references)], from);
  },
  /** Pays more than there is: the transaction stands in a block, with its references, and failed. */
  payFailing: (order: SolanaOrder): Promise<string> =>
    payTogether(hands, [{ ...order, amount: plenty * 100n }]),
  /** Makes tokens in the owner's usual account, as bridges do; the issuer pays the fee. */
  mint: async ({ to, amount, token: name = "usdc" }: SolanaOrder): Promise<string> => {
    const [issuer, token] = [await openSigner("issuer"), tokenOf(hands, name)];
    const owner = address(to);
    const usual = await associatedAccount(token, owner);
    const hasAccount = readAccount(hands.ledger.svm, usual) !== undefined;
    const opening = hasAccount ? [] : [await openAssociated(token, { owner, payer: issuer })];
    return send(hands, [...opening, await mintTo(token, { owner, amount, issuer })], issuer);
  },
  /** Opens one more token account of an owner, at once. Answers its address. */
  openAccount: async (owner: string, name: TokenName): Promise<Address> => {
    const [from, token] = [payerOf(hands, 0), tokenOf(hands, name)];
    const account = await openSigner(`account ${(hands.serial.last += 1)}`);
    const bytes = token.name === "fee" ? feeAccountBytes : accountBytes;
    const lamports = hands.ledger.svm.minimumBalanceForRentExemption(BigInt(bytes));
    const create = createAccount({ payer: from, account, lamports, bytes, owner: token.program });
    const order = { account: account.address, mint: token.mint, owner: address(owner) };
    const programAddress = token.program;
    const initialize = getInitializeAccount3Instruction(order, { programAddress });
    await send(hands, [create, initialize], from);
    return account.address;
  },
  /** Opens an owner's usual account; it waits for a block. */
  openUsualAccount: async (owner: string, name: TokenName): Promise<void> => {
    const payer = payerOf(hands, 0);
    const token = tokenOf(hands, name);
    await send(hands, [await openAssociated(token, { owner: address(owner), payer })], payer);
  },
});

/** With the extension in which a transfer's fee is withheld. */
const feeAccountBytes = 182;

const tokenOf = ({ tokens }: Hands, name: TokenName): Token => {
  const token = tokens.get(name);
  if (token === undefined) throw new Error(`there is no token ${name}`);
  return token;
};

const payerOf = ({ payers }: Hands, index: number): KeyPairSigner => {
  const payer = payers[index];
  if (payer === undefined) throw new Error(`there is no payer ${index}`);
  return payer;
};

/** Signs over a block that no fork takes back, as wallets do. */
const lifetimeOf = ({ ledger, finalizedLag }: Hands): string =>
  ledger.blocks.at(-1 - Math.min(finalizedLag, ledger.head().height))?.hash ?? "";

const send = async (
  hands: Hands,
  instructions: readonly Instruction[],
  payer: KeyPairSigner,
): Promise<string> => {
  const limit = limitUnits((hands.serial.last += 1));
  const blockhash = lifetimeOf(hands);
  const signed = await signTransaction({
    payer,
    instructions: [limit, ...instructions],
    blockhash,
  });
  hands.ledger.submit(signed.bytes);
  return signed.signature;
};

const payTogether = async (hands: Hands, orders: readonly SolanaOrder[]): Promise<string> => {
  const signed = await signPayments(hands, orders);
  hands.ledger.submit(signed.bytes);
  return signed.signature;
};

const signPayments = async (hands: Hands, orders: readonly SolanaOrder[]): Promise<Signed> => {
  const payer = payerOf(hands, orders[0]?.payer ?? 0);
  const serial = (hands.serial.last += 1);
  const transfers: Instruction[] = [];
  for (const order of orders) transfers.push(...(await transfer(hands, order, payer)));
  const blockhash = lifetimeOf(hands);
  if (orders.some(({ isNewest }) => isNewest === true)) {
    return await signNewest({ payer, instructions: transfers, blockhash, serial });
  }
  const instructions = [limitUnits(serial), ...transfers];
  if (!orders.some(({ usesTable }) => usesTable === true)) {
    return await signTransaction({ payer, instructions, blockhash });
  }
  const tables = writeTable(hands, instructions);
  return await signTransaction({ payer, instructions, blockhash, tables });
};

const transfer = async (
  hands: Hands,
  order: SolanaOrder,
  payer: KeyPairSigner,
): Promise<Instruction[]> => {
  const token = tokenOf(hands, order.token ?? "usdc");
  const owner = address(order.to);
  const usual = await associatedAccount(token, owner);
  const hasAccount =
    order.account !== undefined || readAccount(hands.ledger.svm, usual) !== undefined;
  const move = getTransferCheckedInstruction(
    {
      source: await associatedAccount(token, payer.address),
      mint: token.mint,
      destination: order.account === undefined ? usual : address(order.account),
      authority: payer,
      amount: order.amount,
      decimals: token.decimals,
    },
    { programAddress: token.program },
  );
  const data = new Uint8Array([...move.data, ...new Uint8Array(order.trailingBytes ?? 0)]);
  return [
    ...(order.memo === undefined ? [] : [writeMemo(order.memo)]),
    ...(hasAccount ? [] : [await openAssociated(token, { owner, payer })]),
    withReferences({ ...move, data }, order.references ?? []),
  ];
};

const batchKind = 255;

/** Instructions of one token program as its `batch` (SIMD-0266). */
const batchOf = (instructions: readonly Instruction[]): Instruction => {
  const [first] = instructions;
  if (first === undefined) throw new Error("a batch of nothing");
  const parts = instructions.flatMap(({ accounts = [], data = new Uint8Array() }) => [
    accounts.length,
    data.length,
    ...data,
  ]);
  return {
    programAddress: first.programAddress,
    accounts: instructions.flatMap(({ accounts = [] }) => accounts),
    data: new Uint8Array([batchKind, ...parts]),
  };
};

const tableHeaderBytes = 56;
const addressBytes = 32;

/** Puts a look-up table with all keys of the instructions onto the chain, as if it always was. */
const writeTable = ({ ledger }: Hands, instructions: readonly Instruction[]) => {
  const keys = instructions.flatMap(({ accounts = [] }) => accounts.map((one) => one.address));
  const listed = [...new Set(keys)];
  const data = Buffer.alloc(tableHeaderBytes + listed.length * addressBytes);
  data.writeUInt32LE(1, 0);
  data.writeBigUInt64LE(2n ** 64n - 1n, 4);
  listed.forEach((key, index) =>
    data.set(getAddressEncoder().encode(key), tableHeaderBytes + index * addressBytes),
  );
  const table = freshAddress();
  writeAccount(ledger.svm, table, {
    lamports: ledger.svm.minimumBalanceForRentExemption(BigInt(data.length)),
    data: new Uint8Array(data),
    owner: address("AddressLookupTab1e1111111111111111111111111"),
    isExecutable: false,
  });
  return { [table]: listed };
};

/** Creates the tokens and gives the payers plenty, before the first block. */
const issue = async (hands: Hands): Promise<void> => {
  const { svm } = hands.ledger;
  const issuer = await openSigner("issuer");
  for (const { address: holder } of [issuer, ...hands.payers]) {
    svm.airdrop(holder, lamportsOfPayers as never);
  }
  for (const token of hands.tokens.values()) {
    await run(hands, issuer, await createMint(svm, { token, issuer }));
    for (const { address: owner } of hands.payers) {
      await run(hands, issuer, [
        await openAssociated(token, { owner, payer: issuer }),
        await mintTo(token, { owner, amount: plenty, issuer }),
      ]);
    }
  }
};

const run = async (
  { ledger }: Hands,
  payer: KeyPairSigner,
  instructions: readonly Instruction[],
): Promise<void> => {
  const blockhash = ledger.head().hash;
  const { bytes } = await signTransaction({ payer, instructions, blockhash });
  const done = executeTransaction(ledger.svm, readTransaction(ledger.svm, bytes));
  if ("refusedFor" in done || done.execution.err !== null) {
    throw new Error(`a token could not be issued: ${JSON.stringify(done, writeBigInt)}`);
  }
};

const writeBigInt = (_key: string, value: unknown): unknown =>
  typeof value === "bigint" ? String(value) : value;
