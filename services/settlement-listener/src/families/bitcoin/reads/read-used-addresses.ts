import type { AskUsedAddresses } from "@payment-links/contracts";
import type { Question } from "../../../rpc/json-rpc.ts";
import type { ReaderGround } from "../../../rpc/open-chain-readers.ts";
import { readArray } from "../../../rpc/read-answer.ts";

/**
 * Reads which addresses some transaction has paid. Only a node with an index of addresses can tell: btcd has
 * one with `--addrindex`, Bitcoin Core has none.
 */
export const createReadUsedAddresses =
  ({ turn }: Pick<ReaderGround, "turn">): AskUsedAddresses =>
  async ({ addresses }) => {
    const usedAddresses = await turn.ask("used addresses", async (provider) => {
      const answers = await provider.askEachInParts(addresses.map(oneTransactionQuestion));
      const used: string[] = [];
      for (const [index, answer] of answers.entries()) {
        if ("value" in answer) {
          const address = addresses[index];
          if (answer.value && address !== undefined) used.push(address);
        } else if (answer.fault.kind === "refused") {
          // The node has no such index, which is no failure of it.
          return undefined;
        } else if (answer.fault.kind !== "behind") throw answer.fault;
      }
      return used;
    });
    if (usedAddresses === undefined) throw new Error("the node has no index of addresses");
    return { usedAddresses };
  };

/** Whether any transaction pays an address. btcd says of an unused one that it knows nothing of it. */
const oneTransactionQuestion = (address: string): Question<boolean> => ({
  method: "searchrawtransactions",
  params: [address, 0, 0, 1],
  read: (result) => readArray(result).length > 0,
});
