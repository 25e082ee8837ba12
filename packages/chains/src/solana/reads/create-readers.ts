import { createChainReaders } from "../../rpc/create-chain-readers.ts";
import type { Dialect } from "../../rpc/provider.ts";
import { type CreateReaders, type Owners, noOwners } from "../../reads/watched-chain.ts";
import { resolveDepositMinimums } from "../../reads/deposit-minimums.ts";
import { createAccountSchedule } from "./account-schedule.ts";
import { classifyError } from "./classify-error.ts";
import { findChainFault } from "./find-chain-fault.ts";
import { parseKey } from "./rpc-results.ts";
import { type SolanaChain, toSolanaChain } from "./solana-chain.ts";
import { createSolanaReader } from "./solana-reader.ts";
import { solanaSettings } from "./solana-settings.ts";

/**
 * Creates the readers of a Solana chain. Links are paid in tokens to the owner's associated token accounts, with a
 * Solana Pay reference.
 */
export const createSolanaReaders: CreateReaders = (catalogue, chain, override) => {
  const solanaChain = toSolanaChain(catalogue, chain);
  const settings = solanaSettings(chain.id, override);
  const tokens = [...solanaChain.tokens.values()];
  const depositMinimums = resolveDepositMinimums(chain.id, tokens, override);
  return (context) => {
    const readOwners = createReadIsOwner(
      settings.findsDeposits === true ? context.owners : noOwners,
    );
    const dialect = solanaDialect(solanaChain);
    const schedule = createAccountSchedule(solanaChain, context.owners);
    const options = { ...context, ...settings, chainId: chain.id, dialect };
    const readers = createChainReaders(options, (readerContext) =>
      createSolanaReader(readerContext, solanaChain, schedule, readOwners),
    );
    return {
      ...readers,
      id: chain.id,
      settings: { ...settings, depositMinimums },
      findFault: (providerId) => findChainFault(solanaChain, readers.getProviderReader(providerId)),
      fetchSolanaAccountState: readers.reader.fetchSolanaAccountState,
    };
  };
};

/**
 * Creates a check whether an address belongs to a known owner. Each owner is added to the cache
 * only once.
 */
const createReadIsOwner = ({ readAll }: Pick<Owners, "readAll">) => {
  const knownOwners = new Set<string>();
  return async () => {
    const owners = await readAll();
    for (let index = knownOwners.size; index < owners.length; index += 1)
      knownOwners.add(owners[index] ?? "");
    return (address: string): boolean => knownOwners.has(address);
  };
};

/** The length of the genesis hash prefix in a CAIP-2 chain id. */
const chainNameLength = 32;

/** Returns the dialect of JSON-RPC that Solana nodes use. */
export const solanaDialect = ({ chainName }: Pick<SolanaChain, "chainName">): Dialect => ({
  chainRequest: {
    method: "getGenesisHash",
    params: [],
    parseResult: (result) => parseKey(result).slice(0, chainNameLength),
  },
  chainName,
  classifyError,
});
