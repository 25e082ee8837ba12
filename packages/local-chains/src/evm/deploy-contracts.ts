// oxlint-disable-next-line reliability/no-fixed-wait -- waits between two polls
import { setTimeout as sleep } from "node:timers/promises";
import {
  type Hex,
  type PublicActions,
  createWalletClient,
  getContractAddress,
  http,
  publicActions,
} from "viem";
import { devnet } from "@payment-links/contracts";
import { feeProxyCodes } from "./fee-proxy-codes.ts";
import { testUsdcCode } from "./test-usdc-code.ts";

/**
 * The first of anvil's well-known accounts. anvil can sign for it, and it deploys all contracts.
 */
const deployer = "0xf39Fd6e51aad88F6F4ce6aB8827279cffFb92266";

const receiptMsMax = 180_000;
const receiptPollMsMax = 500;

/**
 * Deploys the fee proxies and the test USDC to a development chain, unless they already exist.
 * Their addresses are derived from the deployer and its nonces. A chain on which the deployer has
 * already sent other transactions is therefore rejected.
 */
export const deployContracts = async (url: string): Promise<void> => {
  const client = createClient(url);
  const contracts = [
    { address: devnet.erc20FeeProxy, code: feeProxyCodes.erc20 },
    { address: devnet.ethereumFeeProxy, code: feeProxyCodes.ethereum },
    { address: devnet.token, code: testUsdcCode },
  ] as const;
  for (const { address, code } of contracts) {
    if ((await client.getCode({ address })) !== undefined) continue;
    await deploy(client, address, code);
  }
};

type Client = ReturnType<typeof createClient>;

const createClient = (url: string) =>
  createWalletClient({ account: deployer, transport: http(url) }).extend(publicActions);

const deploy = async (client: Client, address: string, data: Hex): Promise<void> => {
  const nonce = await client.getTransactionCount({ address: deployer });
  if (getContractAddress({ from: deployer, nonce: BigInt(nonce) }) !== address) {
    throw new Error(
      `the development chain has unexpected transactions: ${address} cannot be deployed`,
    );
  }
  const hash = await client.sendTransaction({ data, chain: null });
  const receipt = await waitForReceipt(client, hash);
  if (receipt.status !== "success") throw new Error(`${address} could not be deployed`);
};

/**
 * Waits for the receipt of a pending transaction. viem's own function (2.57) can miss it: while it
 * checks one block, it ignores the next one, and on a chain that mines one block per transaction no
 * further block follows.
 */
export const waitForReceipt = async (
  client: Pick<PublicActions, "getTransactionReceipt">,
  hash: Hex,
) => {
  const startedAtMs = performance.now();
  for (;;) {
    const receipt = await client.getTransactionReceipt({ hash }).catch(() => undefined);
    if (receipt !== undefined) return receipt;
    const waitedMs = performance.now() - startedAtMs;
    if (waitedMs > receiptMsMax) {
      throw new Error(`timed out after ${receiptMsMax} ms: transaction ${hash} has a receipt`);
    }
    await sleep(Math.min(5 + waitedMs / 20, receiptPollMsMax));
  }
};
