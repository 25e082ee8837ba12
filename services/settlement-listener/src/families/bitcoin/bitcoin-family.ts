import type { Dialect } from "../../rpc/dialect.ts";
import { openChainReaders } from "../../rpc/open-chain-readers.ts";
import type { Family } from "../family.ts";
import { type BitcoinChain, bitcoinChainOf } from "./bitcoin-chain.ts";
import { createBitcoinReader } from "./bitcoin-reader.ts";
import { bitcoinSettings } from "./bitcoin-settings.ts";
import { classifyError } from "./classify-error.ts";
import { createMoreBlocksOf } from "./more-blocks.ts";
import { findChainFault } from "./find-chain-fault.ts";
import { hashQuestion, readHash } from "./node-answers.ts";
import { openPayees } from "./payees.ts";

/** Bitcoin: links that have an address of their own each. */
export const bitcoinFamily: Family = (catalogue, chain, override) => {
  const bitcoinChain = bitcoinChainOf(catalogue, chain);
  const settings = bitcoinSettings(chain.id, override);
  return (ground) => {
    const dialect = bitcoinDialect(bitcoinChain);
    const payees = openPayees(ground.owners, bitcoinChain.id);
    const options = { ...ground, ...settings, chainId: chain.id, dialect };
    const readers = openChainReaders(options, (asking) =>
      createBitcoinReader(asking, bitcoinChain, payees, settings),
    );
    return {
      ...readers,
      id: chain.id,
      settings,
      moreBlocksOf: createMoreBlocksOf(settings),
      findFault: (providerId) => findChainFault(bitcoinChain, readers.readerOf(providerId)),
      askUsedAddresses: readers.reader.askUsedAddresses,
    };
  };
};

/** CAIP-2 names a chain by so much of its genesis hash. */
const chainNameCharacters = 32;

/** How Bitcoin's nodes speak. */
export const bitcoinDialect = ({ chainName }: Pick<BitcoinChain, "chainName">): Dialect => ({
  chainQuestion: {
    ...hashQuestion(0),
    read: (result) => readHash(result).slice(0, chainNameCharacters),
  },
  chainName,
  classifyError,
});
