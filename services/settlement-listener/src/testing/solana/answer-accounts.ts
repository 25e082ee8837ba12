import { type Address, getBase58Decoder, isAddress } from "@solana/kit";
import * as z from "zod";
import { ContextOptions, type NodeView, contextOf, readParams, withContext } from "./node-view.ts";
import type { Block } from "./open-ledger.ts";
import { invalidParams } from "./rpc-faults.ts";
import {
  type StoredAccount,
  isTokenProgram,
  readDecimals,
  readHolding,
  tokenPrograms,
  writeTokenAmount,
} from "./token-account.ts";

const accountsMax = 100;
/** No account collects rent any more. */
const rentEpoch = 18_446_744_073_709_551_615n;

const Key = z.custom<Address>((text) => typeof text === "string" && isAddress(text), "WrongSize");
const AccountOptions = ContextOptions.extend({
  encoding: z.enum(["base64", "base58", "jsonParsed"]).default("base58"),
  dataSlice: z.object({ offset: z.int(), length: z.int() }).optional(),
});
type AccountOptions = z.infer<typeof AccountOptions>;
const Options = AccountOptions.prefault({});
const Filter = z.union([z.object({ mint: Key }), z.object({ programId: Key })]);

/** The methods that tell of accounts. */
export const accountMethods: Readonly<
  Record<string, (view: NodeView, params: readonly unknown[]) => unknown>
> = {
  getBalance: (view, params) => {
    const [address, options] = readParams(z.tuple([Key, Options]), pad(params, 2));
    const top = contextOf(view, options);
    return withContext(top, view.ledger.accountAt(address, top.height)?.lamports ?? 0n);
  },
  getAccountInfo: (view, params) => {
    const [address, options] = readParams(z.tuple([Key, Options]), pad(params, 2));
    const top = contextOf(view, options);
    return withContext(top, describe(view, { address, top, options }));
  },
  getMultipleAccounts: (view, params) => {
    const [addresses, options] = readParams(z.tuple([z.array(Key), Options]), pad(params, 2));
    if (addresses.length > accountsMax) {
      throw invalidParams(`Too many inputs provided; max ${accountsMax}`);
    }
    const top = contextOf(view, options);
    return withContext(
      top,
      addresses.map((address) => describe(view, { address, top, options })),
    );
  },
  getTokenAccountBalance: (view, params) => {
    const [address, options] = readParams(z.tuple([Key, Options]), pad(params, 2));
    const top = contextOf(view, options);
    const account = view.ledger.accountAt(address, top.height);
    if (account === undefined) throw invalidParams("Invalid param: could not find account");
    const holding = readHolding(account);
    if (holding === undefined) throw invalidParams("Invalid param: not a Token account");
    const decimals = decimalsOf(view, holding.mint, top) ?? 0;
    return withContext(top, writeTokenAmount(holding.amount, decimals));
  },
  getTokenAccountsByOwner: (view, params) => listTokenAccounts(view, params),
  getMinimumBalanceForRentExemption: (view, params) => {
    const [bytes] = readParams(z.tuple([z.int()]).rest(z.unknown()), params);
    return view.ledger.svm.minimumBalanceForRentExemption(BigInt(bytes));
  },
};

const pad = (params: readonly unknown[], count: number): unknown[] =>
  Array.from({ length: count }, (_, index) => params[index] ?? undefined);

const decimalsOf = (view: NodeView, mint: Address, top: Block): number | undefined =>
  readDecimals(view.ledger.accountAt(mint, top.height));

const listTokenAccounts = (view: NodeView, params: readonly unknown[]): unknown => {
  const [owner, filter, options] = readParams(z.tuple([Key, Filter, Options]), pad(params, 3));
  const top = contextOf(view, options);
  const account = "mint" in filter ? view.ledger.accountAt(filter.mint, top.height) : undefined;
  if ("mint" in filter && readDecimals(account) === undefined) {
    throw invalidParams("Invalid param: could not find mint");
  }
  const programId = "programId" in filter ? filter.programId : account?.owner;
  if (programId === undefined || !isTokenProgram(programId)) {
    throw invalidParams("Invalid param: unrecognized Token program id");
  }
  const isWanted = (address: Address): boolean => {
    const stored = view.ledger.accountAt(address, top.height);
    const holding = readHolding(stored);
    return (
      stored?.owner === programId &&
      holding?.owner === owner &&
      (!("mint" in filter) || holding.mint === filter.mint)
    );
  };
  return withContext(
    top,
    tokenAccounts(view, { programId, top })
      .filter(isWanted)
      .map((pubkey) => ({ pubkey, account: describe(view, { address: pubkey, top, options }) })),
  );
};

/** Those that are, and those that were before the newest blocks. */
const tokenAccounts = (
  view: NodeView,
  { programId, top }: { programId: Address; top: Block },
): Address[] => {
  const now = view.ledger.svm.getProgramAccounts(programId).map(({ address }) => address);
  const newer = view.ledger.blocks.slice(top.height + 1);
  const changed = newer.flatMap(({ before }) => [...before.keys()]);
  return [...new Set([...now, ...changed])].sort();
};

const describe = (
  view: NodeView,
  { address, top, options }: { address: Address; top: Block; options: AccountOptions },
) => {
  const account = view.ledger.accountAt(address, top.height);
  if (account === undefined) return null;
  const { offset, length } = options.dataSlice ?? { offset: 0, length: account.data.length };
  const data = account.data.slice(offset, offset + length);
  return {
    lamports: account.lamports,
    owner: account.owner,
    executable: account.isExecutable,
    rentEpoch,
    space: account.data.length,
    data: encode(view, { account, data, top, encoding: options.encoding }),
  };
};

const encode = (
  view: NodeView,
  {
    account,
    data,
    top,
    encoding,
  }: {
    account: StoredAccount;
    data: Uint8Array;
    top: Block;
    encoding: AccountOptions["encoding"];
  },
): unknown => {
  if (encoding === "base58") return [getBase58Decoder().decode(data), encoding];
  const holding = encoding === "jsonParsed" ? readHolding(account) : undefined;
  // A node falls back to base64 where it cannot parse.
  if (holding === undefined) return [Buffer.from(data).toString("base64"), "base64"];
  const { mint, owner, amount, isFrozen } = holding;
  const info = {
    isNative: false,
    mint,
    owner,
    state: isFrozen ? "frozen" : "initialized",
    tokenAmount: writeTokenAmount(amount, decimalsOf(view, mint, top) ?? 0),
  };
  const program = account.owner === tokenPrograms.token ? "spl-token" : "spl-token-2022";
  return { parsed: { info, type: "account" }, program, space: account.data.length };
};
