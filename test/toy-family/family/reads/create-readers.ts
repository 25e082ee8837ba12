import type { ChainSettings } from "../../../../packages/chains/src/reads/chain-settings.ts";
import type { CreateReaders } from "../../../../packages/chains/src/reads/watched-chain.ts";
import { createChainReaders } from "../../../../packages/chains/src/rpc/create-chain-readers.ts";
import { chainRequest } from "./requests.ts";
import { createToyReader } from "./toy-reader.ts";

const settings: ChainSettings = {
  finality: { blocks: 1 },
  headLagBlocks: 0,
  finalDepthBlocks: 10,
  rangeBlocksMax: 100,
  pollMs: 100,
  isDisposable: false,
};

/** Creates the readers of a toy chain. */
export const createTronReaders: CreateReaders =
  ({ tokens }, { caip2, id }, override) =>
  (context) => {
    const chainSettings = { ...settings, ...override };
    const dialect = { chainRequest, chainName: caip2, classifyError: () => "refused" as const };
    const options = { ...context, ...chainSettings, chainId: id, dialect };
    const chainTokens = tokens.filter(({ chainId }) => chainId === id);
    const readers = createChainReaders(options, (readerContext) =>
      createToyReader(readerContext, new Map(chainTokens.map((token) => [token.address, token]))),
    );
    return {
      ...readers,
      id,
      settings: chainSettings,
      findFault: async (providerId) => {
        const servedChain = await readers.getProviderReader(providerId).readChain();
        return servedChain === caip2 ? undefined : `the node serves chain ${servedChain}`;
      },
    };
  };
