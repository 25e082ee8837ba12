import type { Dialect } from "../../rpc/dialect.ts";
import { createChainReaders } from "../../rpc/create-chain-readers.ts";
import { type Owners, noOwners } from "../../watch/chain/owners.ts";
import { resolveDepositMinimums } from "../deposit-minimums.ts";
import type { ChainFamily } from "../chain-family.ts";
import { createAccountSchedule } from "./account-schedule.ts";
import { classifyError } from "./classify-error.ts";
import { findChainFault } from "./find-chain-fault.ts";
import { parseKey } from "./rpc-results.ts";
import { type SolanaChain, toSolanaChain } from "./solana-chain.ts";
import { createSolanaReader } from "./solana-reader.ts";
import { solanaSettings } from "./solana-settings.ts";

/**
 * The Solana family: tokens paid to the owners' associated token accounts, with Solana Pay's
 * reference.
 */
export const solanaFamily: ChainFamily = (catalogue, chain, override) => {
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
    const { reader, ...readers } = createChainReaders(options, (readerContext) =>
      createSolanaReader(readerContext, solanaChain, schedule, readOwners),
    );
    return {
      ...readers,
      id: chain.id,
      settings: { ...settings, depositMinimums },
      reader,
      findFault: (providerId) => findChainFault(solanaChain, readers.getProviderReader(providerId)),
      fetchSolanaAccountState: reader.fetchSolanaAccountState,
    };
  };
};

/** Creates a check whether an address belongs to a known owner. Each owner is stored once. */
const createReadIsOwner = ({ readAll }: Pick<Owners, "readAll">) => {
  const knownOwners = new Set<string>();
  return async () => {
    const owners = await readAll();
    for (let index = knownOwners.size; index < owners.length; index += 1)
      knownOwners.add(owners[index] ?? "");
    return (address: string): boolean => knownOwners.has(address);
  };
};

/** The number of genesis hash characters in a CAIP-2 name. */
const chainNameLength = 32;

/** Returns the protocol details of Solana nodes. */
export const solanaDialect = ({ chainName }: Pick<SolanaChain, "chainName">): Dialect => ({
  chainRequest: {
    method: "getGenesisHash",
    params: [],
    parseResult: (result) => parseKey(result).slice(0, chainNameLength),
  },
  chainName,
  classifyError,
});
