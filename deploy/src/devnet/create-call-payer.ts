import {
  createTestClient,
  encodeFunctionData,
  http,
  parseAbi,
  publicActions,
  walletActions,
} from "viem";
import { waitForReceipt } from "@payment-links/settlement-listener/testing/deploy-contracts";
import type { ContractCall } from "./local-chain.ts";

type Hex = `0x${string}`;

/** What is paid: by calls that a payer's wallet would send, in a token that anyone may mint. */
type CallPayment = { token: Hex; amountBaseUnits: bigint; calls: readonly ContractCall[] };

/** The second of anvil's well-known accounts, which it signs for. */
const account = "0x70997970C51812dc3A010C7d01b50e0d17dc79C8";

/** By then a payment is final, whatever depth the watcher waits for. */
const confirmationBlocks = 4;

const mintAbi = parseAbi(["function mint(address to, uint256 value)"]);

/**
 * Opens a payer on an EVM node for development. It mints what it pays, sends the calls as they are, one
 * after the other, and has blocks follow; the last transaction's hash is the answer. Payments wait for
 * one another, as they share one allowance.
 */
export const createCallPayer = (url: string): ((payment: CallPayment) => Promise<Hex>) => {
  const client = createTestClient({ mode: "anvil", account, transport: http(url) })
    .extend(publicActions)
    .extend(walletActions);
  const sendTransaction = async (call: { to: Hex; value?: bigint; data: Hex }): Promise<Hex> => {
    const hash = await client.sendTransaction({ ...call, chain: null });
    const { status } = await waitForReceipt(client, hash);
    if (status !== "success") throw new Error(`the transaction ${hash} was reverted`);
    return hash;
  };
  const pay = async ({ token, amountBaseUnits, calls }: CallPayment): Promise<Hex> => {
    const args = [account, amountBaseUnits] as const;
    await sendTransaction({
      to: token,
      data: encodeFunctionData({ abi: mintAbi, functionName: "mint", args }),
    });
    let lastHash: Hex | undefined;
    for (const { to, value, data } of calls) {
      lastHash = await sendTransaction({ to: to as Hex, value, data: data as Hex });
    }
    if (lastHash === undefined) throw new Error("there is no call that pays");
    await client.mine({ blocks: confirmationBlocks });
    return lastHash;
  };
  let previousPayment: Promise<unknown> = Promise.resolve();
  return (payment) => {
    const pendingPayment = previousPayment.then(() => pay(payment));
    previousPayment = pendingPayment.catch(() => undefined);
    return pendingPayment;
  };
};
