import {
  createTestClient,
  encodeFunctionData,
  http,
  parseAbi,
  publicActions,
  walletActions,
} from "viem";
import { awaitReceipt } from "@payment-links/settlement-listener/testing/deploy-contracts";
import type { LocalCall } from "./local-chain.ts";

type Hex = `0x${string}`;

/** What is paid: by calls that a payer's wallet would send, in a token that anyone may mint. */
type CallOrder = { token: Hex; amountBaseUnits: bigint; calls: readonly LocalCall[] };

/** The second of anvil's well-known accounts, which it signs for. */
const account = "0x70997970C51812dc3A010C7d01b50e0d17dc79C8";

/** By then a payment is final, whatever depth the watcher waits for. */
const blocksBehind = 4;

const mint = parseAbi(["function mint(address to, uint256 value)"]);

/**
 * Opens a payer on an EVM node for development. It mints what it pays, sends the calls as they are, one
 * after the other, and has blocks follow; the last transaction's hash is the answer. Payments wait for
 * one another, as they share one allowance.
 */
export const openCallPayer = (url: string): ((order: CallOrder) => Promise<Hex>) => {
  const client = createTestClient({ mode: "anvil", account, transport: http(url) })
    .extend(publicActions)
    .extend(walletActions);
  const transact = async (call: { to: Hex; value?: bigint; data: Hex }): Promise<Hex> => {
    const hash = await client.sendTransaction({ ...call, chain: null });
    const { status } = await awaitReceipt(client, hash);
    if (status !== "success") throw new Error(`the transaction ${hash} was reverted`);
    return hash;
  };
  const pay = async ({ token, amountBaseUnits, calls }: CallOrder): Promise<Hex> => {
    const args = [account, amountBaseUnits] as const;
    await transact({
      to: token,
      data: encodeFunctionData({ abi: mint, functionName: "mint", args }),
    });
    let last: Hex | undefined;
    for (const { to, value, data } of calls) {
      last = await transact({ to: to as Hex, value, data: data as Hex });
    }
    if (last === undefined) throw new Error("there is no call that pays");
    await client.mine({ blocks: blocksBehind });
    return last;
  };
  let before: Promise<unknown> = Promise.resolve();
  return (order) => {
    const paid = before.then(() => pay(order));
    before = paid.catch(() => undefined);
    return paid;
  };
};
