import type { Dialect } from "../../rpc/dialect.ts";
import { openChainReaders } from "../../rpc/open-chain-readers.ts";
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
  return (ground) => {
    const dialect = solanaDialect(solanaChain);
    const schedule = createAccountSchedule(solanaChain, ground.owners);
    const options = { ...ground, ...settings, chainId: chain.id, dialect };
    const { reader, ...readers } = openChainReaders(options, (asking) =>
      createSolanaReader(asking, solanaChain, schedule),
    );
    return {
      ...readers,
      id: chain.id,
      settings,
      reader,
      findFault: () => findChainFault(solanaChain, reader),
      askSolana: reader.askSolana,
    };
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
