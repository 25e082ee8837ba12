import {
  createTestClient,
  encodeFunctionData,
  http,
  parseAbi,
  publicActions,
  walletActions,
} from "viem";
import { waitForReceipt } from "@payment-links/local-chains/evm/deploy-contracts";
import type { ContractCall } from "./local-chain.ts";

type Hex = `0x${string}`;

/** A payment: the calls that a payer's wallet would send. Anyone can mint its token. */
type CallPayment = { token: Hex; amountBaseUnits: bigint; calls: readonly ContractCall[] };

/** The second of anvil's well-known accounts. anvil signs for it. */
const account = "0x70997970C51812dc3A010C7d01b50e0d17dc79C8";

/** The number of blocks after which a payment is final at any configured depth. */
const confirmationBlocks = 4;

const mintAbi = parseAbi(["function mint(address to, uint256 value)"]);

/**
 * Creates a payer on an EVM development node. For each payment it mints the amount, sends the calls
 * unchanged and in order, and mines confirmation blocks. Returns the hash of the last transaction.
 * Payments run one at a time, because they share one allowance.
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
    if (lastHash === undefined) throw new Error("the payment has no calls");
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
