import type { Dialect } from "../../rpc/dialect.ts";
import { openChainReaders } from "../../rpc/open-chain-readers.ts";
import { type Owners, noOwners } from "../../watch/chain/owners.ts";
import { depositMinimumsOf } from "../deposit-minimums.ts";
import type { Family } from "../family.ts";
import { createAccountSchedule } from "./account-schedule.ts";
import { classifyError } from "./classify-error.ts";
import { findChainFault } from "./find-chain-fault.ts";
import { readKey } from "./node-answers.ts";
import { type SolanaChain, solanaChainOf } from "./solana-chain.ts";
import { createSolanaReader } from "./solana-reader.ts";
import { solanaSettings } from "./solana-settings.ts";

/** Solana: tokens that are paid to the owners' usual token accounts, with Solana Pay's reference. */
export const solanaFamily: Family = (catalogue, chain, override) => {
  const solanaChain = solanaChainOf(catalogue, chain);
  const settings = solanaSettings(chain.id, override);
  const tokens = [...solanaChain.tokens.values()];
  const depositMinimums = depositMinimumsOf(chain.id, tokens, override);
  return (ground) => {
    const readOwners = openIsOwner(settings.findsDeposits === true ? ground.owners : noOwners);
    const dialect = solanaDialect(solanaChain);
    const schedule = createAccountSchedule(solanaChain, ground.owners);
    const options = { ...ground, ...settings, chainId: chain.id, dialect };
    const { reader, ...readers } = openChainReaders(options, (asking) =>
      createSolanaReader(asking, solanaChain, schedule, readOwners),
    );
    return {
      ...readers,
      id: chain.id,
      settings: { ...settings, depositMinimums },
      reader,
      findFault: (providerId) => findChainFault(solanaChain, readers.readerOf(providerId)),
      askSolana: reader.askSolana,
    };
  };
};

/** Whether somebody is an owner of those heard of by now; each is kept once. */
const openIsOwner = ({ read }: Pick<Owners, "read">) => {
  const known = new Set<string>();
  return async () => {
    const all = await read();
    for (let at = known.size; at < all.length; at += 1) known.add(all[at] ?? "");
    return (address: string): boolean => known.has(address);
  };
};

/** CAIP-2 names a chain by so much of its genesis hash. */
const chainNameCharacters = 32;

/** How Solana's nodes speak. */
export const solanaDialect = ({ chainName }: Pick<SolanaChain, "chainName">): Dialect => ({
  chainQuestion: {
    method: "getGenesisHash",
    params: [],
    read: (result) => readKey(result).slice(0, chainNameCharacters),
  },
  chainName,
  classifyError,
});
