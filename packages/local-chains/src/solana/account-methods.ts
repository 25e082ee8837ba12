import { type Address, getBase58Decoder, isAddress } from "@solana/kit";
import * as z from "zod";
import {
  ContextOptions,
  type NodeView,
  resolveContextBlock,
  parseParams,
  withContext,
} from "./node-view.ts";
import type { Block } from "./create-ledger.ts";
import { invalidParamsError } from "./rpc-errors.ts";
import {
  type StoredAccount,
  isTokenProgram,
  decodeDecimals,
  decodeHolding,
  tokenPrograms,
  serializeTokenAmount,
} from "./token-account.ts";

const accountsMax = 100;
/** Accounts no longer pay rent. */
const rentEpoch = 18_446_744_073_709_551_615n;

const Key = z.custom<Address>((text) => typeof text === "string" && isAddress(text), "WrongSize");
const AccountOptions = ContextOptions.extend({
  encoding: z.enum(["base64", "base58", "jsonParsed"]).default("base58"),
  dataSlice: z.object({ offset: z.int(), length: z.int() }).optional(),
});
type AccountOptions = z.infer<typeof AccountOptions>;
const AccountOptionsParam = AccountOptions.prefault({});
const Filter = z.union([z.object({ mint: Key }), z.object({ programId: Key })]);

/** The RPC methods that return accounts. */
export const accountMethods: Readonly<
  Record<string, (view: NodeView, params: readonly unknown[]) => unknown>
> = {
  getBalance: (view, params) => {
    const [address, options] = parseParams(z.tuple([Key, AccountOptionsParam]), params);
    const contextBlock = resolveContextBlock(view, options);
    return withContext(
      contextBlock,
      view.ledger.readAccountAt(address, contextBlock.height)?.lamports ?? 0n,
    );
  },
  getAccountInfo: (view, params) => {
    const [address, options] = parseParams(z.tuple([Key, AccountOptionsParam]), params);
    const contextBlock = resolveContextBlock(view, options);
    return withContext(contextBlock, serializeAccount(view, { address, contextBlock, options }));
  },
  getMultipleAccounts: (view, params) => {
    const [addresses, options] = parseParams(z.tuple([z.array(Key), AccountOptionsParam]), params);
    if (addresses.length > accountsMax) {
      throw invalidParamsError(`Too many inputs provided; max ${accountsMax}`);
    }
    const contextBlock = resolveContextBlock(view, options);
    return withContext(
      contextBlock,
      addresses.map((address) => serializeAccount(view, { address, contextBlock, options })),
    );
  },
  getTokenAccountBalance: (view, params) => {
    const [address, options] = parseParams(z.tuple([Key, AccountOptionsParam]), params);
    const contextBlock = resolveContextBlock(view, options);
    const account = view.ledger.readAccountAt(address, contextBlock.height);
    if (account === undefined) throw invalidParamsError("Invalid param: could not find account");
    const holding = decodeHolding(account);
    if (holding === undefined) throw invalidParamsError("Invalid param: not a Token account");
    const decimals = findDecimals(view, holding.mint, contextBlock) ?? 0;
    return withContext(contextBlock, serializeTokenAmount(holding.amount, decimals));
  },
  getTokenAccountsByOwner: (view, params) => listTokenAccounts(view, params),
  getMinimumBalanceForRentExemption: (view, params) => {
    const [bytes] = parseParams(z.tuple([z.int()]), params);
    return view.ledger.svm.minimumBalanceForRentExemption(BigInt(bytes));
  },
};

const findDecimals = (view: NodeView, mint: Address, contextBlock: Block): number | undefined =>
  decodeDecimals(view.ledger.readAccountAt(mint, contextBlock.height));

const listTokenAccounts = (view: NodeView, params: readonly unknown[]): unknown => {
  const [owner, filter, options] = parseParams(z.tuple([Key, Filter, AccountOptionsParam]), params);
  const contextBlock = resolveContextBlock(view, options);
  const account =
    "mint" in filter ? view.ledger.readAccountAt(filter.mint, contextBlock.height) : undefined;
  if ("mint" in filter && decodeDecimals(account) === undefined) {
    throw invalidParamsError("Invalid param: could not find mint");
  }
  const programId = "programId" in filter ? filter.programId : account?.owner;
  if (programId === undefined || !isTokenProgram(programId)) {
    throw invalidParamsError("Invalid param: unrecognized Token program id");
  }
  const matchesFilter = (address: Address): boolean => {
    const storedAccount = view.ledger.readAccountAt(address, contextBlock.height);
    const holding = decodeHolding(storedAccount);
    return (
      storedAccount?.owner === programId &&
      holding?.owner === owner &&
      (!("mint" in filter) || holding.mint === filter.mint)
    );
  };
  return withContext(
    contextBlock,
    listTokenAccountAddresses(view, { programId, contextBlock })
      .filter(matchesFilter)
      .map((pubkey) => ({
        pubkey,
        account: serializeAccount(view, { address: pubkey, contextBlock, options }),
      })),
  );
};

/**
 * Returns the addresses of the current token accounts, and of those that blocks above the context
 * block changed.
 */
const listTokenAccountAddresses = (
  view: NodeView,
  { programId, contextBlock }: { programId: Address; contextBlock: Block },
): Address[] => {
  const currentAddresses = view.ledger.svm
    .getProgramAccounts(programId)
    .map(({ address }) => address);
  const newerBlocks = view.ledger.blocks.slice(contextBlock.height + 1);
  const changedAddresses = newerBlocks.flatMap(({ accountsBefore }) => [...accountsBefore.keys()]);
  return [...new Set([...currentAddresses, ...changedAddresses])].sort();
};

const serializeAccount = (
  view: NodeView,
  {
    address,
    contextBlock,
    options,
  }: { address: Address; contextBlock: Block; options: AccountOptions },
) => {
  const account = view.ledger.readAccountAt(address, contextBlock.height);
  if (account === undefined) return null;
  const { offset, length } = options.dataSlice ?? { offset: 0, length: account.data.length };
  const data = account.data.slice(offset, offset + length);
  return {
    lamports: account.lamports,
    owner: account.owner,
    executable: account.isExecutable,
    rentEpoch,
    space: account.data.length,
    data: encodeAccountData(view, { account, data, contextBlock, encoding: options.encoding }),
  };
};

const encodeAccountData = (
  view: NodeView,
  {
    account,
    data,
    contextBlock,
    encoding,
  }: {
    account: StoredAccount;
    data: Uint8Array;
    contextBlock: Block;
    encoding: AccountOptions["encoding"];
  },
): unknown => {
  if (encoding === "base58") return [getBase58Decoder().decode(data), encoding];
  const holding = encoding === "jsonParsed" ? decodeHolding(account) : undefined;
  // If a node cannot parse the data of an account, it returns base64 instead.
  if (holding === undefined) return [Buffer.from(data).toString("base64"), "base64"];
  const { mint, owner, amount, isFrozen } = holding;
  const info = {
    isNative: false,
    mint,
    owner,
    state: isFrozen ? "frozen" : "initialized",
    tokenAmount: serializeTokenAmount(amount, findDecimals(view, mint, contextBlock) ?? 0),
  };
  const program = account.owner === tokenPrograms.token ? "spl-token" : "spl-token-2022";
  return { parsed: { info, type: "account" }, program, space: account.data.length };
};
