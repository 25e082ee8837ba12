import type { FetchUsedAddresses } from "@payment-links/contracts";
import { type RpcRequest, orFault } from "../../rpc/json-rpc.ts";
import type { ReaderContext } from "../../rpc/create-chain-readers.ts";
import { parseArray } from "../../rpc/parse-result.ts";
import { RpcFault } from "../../rpc/rpc-fault.ts";

/**
 * Creates the read that returns which addresses any transaction has paid. It needs a node with an
 * address index: btcd has one if started with `--addrindex`, and Bitcoin Core has none.
 */
export const createReadUsedAddresses =
  ({ failover }: Pick<ReaderContext, "failover">): FetchUsedAddresses =>
  async ({ addresses }) => {
    const usedAddresses = await failover.run("used addresses", async (provider) => {
      const requests = addresses.map((address) => orFault(anyTransactionRequest(address)));
      const results = await provider.request(requests, { inParts: true });
      const paidAddresses: string[] = [];
      for (const [index, result] of results.entries()) {
        if (!(result instanceof RpcFault)) {
          const address = addresses[index];
          if (result && address !== undefined) paidAddresses.push(address);
        } else if (result.kind === "refused") {
          // The node has no address index. That is a normal configuration, not an error.
          return undefined;
        } else if (result.kind !== "behind") throw result;
      }
      return paidAddresses;
    });
    if (usedAddresses === undefined) throw new Error("the node has no address index");
    return { usedAddresses };
  };

/**
 * Requests whether any transaction pays an address. For an unused address, btcd returns an error.
 */
const anyTransactionRequest = (address: string): RpcRequest<boolean> => ({
  method: "searchrawtransactions",
  params: [address, 0, 0, 1],
  parseResult: (result) => parseArray(result).length > 0,
});
