import { createChainReaders } from "../../rpc/create-chain-readers.ts";
import type { Dialect } from "../../rpc/provider.ts";
import type { CreateReaders } from "../../reads/watched-chain.ts";
import { type BitcoinChain, toBitcoinChain } from "./bitcoin-chain.ts";
import { createBitcoinReader } from "./bitcoin-reader.ts";
import { bitcoinSettings } from "./bitcoin-settings.ts";
import { classifyError } from "./classify-error.ts";
import { createGetExtraConfirmations } from "./extra-confirmations.ts";
import { findChainFault } from "./find-chain-fault.ts";
import { blockHashRequest, parseHash } from "./rpc-requests.ts";
import { createPayees } from "./payees.ts";

/** Creates the readers of a Bitcoin chain, where each link has its own address. */
export const createBitcoinReaders: CreateReaders = (catalogue, chain, override) => {
  const bitcoinChain = toBitcoinChain(catalogue, chain);
  const settings = bitcoinSettings(chain.id, override);
  return (context) => {
    const dialect = bitcoinDialect(bitcoinChain);
    const payees = createPayees(context.owners, bitcoinChain.id);
    const options = { ...context, ...settings, chainId: chain.id, dialect };
    const readers = createChainReaders(options, (readerContext) =>
      createBitcoinReader(readerContext, bitcoinChain, payees, settings),
    );
    return {
      ...readers,
      id: chain.id,
      settings,
      getExtraConfirmations: createGetExtraConfirmations(settings),
      findFault: (providerId) =>
        findChainFault(bitcoinChain, readers.getProviderReader(providerId)),
      fetchUsedAddresses: readers.reader.fetchUsedAddresses,
    };
  };
};

/** The length of the genesis hash prefix in a CAIP-2 chain id. */
const chainNameLength = 32;

/** Returns the dialect of JSON-RPC that Bitcoin nodes use. */
export const bitcoinDialect = ({ chainName }: Pick<BitcoinChain, "chainName">): Dialect => ({
  chainRequest: {
    ...blockHashRequest(0),
    parseResult: (result) => parseHash(result).slice(0, chainNameLength),
  },
  chainName,
  classifyError,
});
