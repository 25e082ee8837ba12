import type { FetchUsedAddresses } from "@payment-links/contracts";
import type { RpcRequest } from "../../../rpc/json-rpc.ts";
import type { ReaderContext } from "../../../rpc/create-chain-readers.ts";
import { parseArray } from "../../../rpc/parse-result.ts";

/**
 * Reads which addresses some transaction has paid. Only a node with an index of addresses can tell: btcd has
 * one with `--addrindex`, Bitcoin Core has none.
 */
export const createReadUsedAddresses =
  ({ failover }: Pick<ReaderContext, "failover">): FetchUsedAddresses =>
  async ({ addresses }) => {
    const usedAddresses = await failover.run("used addresses", async (provider) => {
      const results = await provider.requestEachInParts(addresses.map(anyTransactionRequest));
      const paidAddresses: string[] = [];
      for (const [index, result] of results.entries()) {
        if ("value" in result) {
          const address = addresses[index];
          if (result.value && address !== undefined) paidAddresses.push(address);
        } else if (result.fault.kind === "refused") {
          // The node has no such index, which is no failure of it.
          return undefined;
        } else if (result.fault.kind !== "behind") throw result.fault;
      }
      return paidAddresses;
    });
    if (usedAddresses === undefined) throw new Error("the node has no index of addresses");
    return { usedAddresses };
  };

/** Whether any transaction pays an address. btcd says of an unused one that it knows nothing of it. */
const anyTransactionRequest = (address: string): RpcRequest<boolean> => ({
  method: "searchrawtransactions",
  params: [address, 0, 0, 1],
  parseResult: (result) => parseArray(result).length > 0,
});
