import type { BrowserContext } from "playwright-core";
import { hexToString } from "viem";
import { generatePrivateKey, privateKeyToAccount } from "viem/accounts";

type WalletRequest = { method: string; params?: readonly `0x${string}`[] };

/**
 * Installs an EIP-1193 wallet with its own key in the user's browser. The wallet can be configured
 * to reject signing.
 */
export const createConsoleWallet = async (
  context: BrowserContext,
  { rejectsSigning = false } = {},
) => {
  let account = privateKeyToAccount(generatePrivateKey());
  const signedMessages: string[] = [];
  await context.exposeFunction("askWallet", async ({ method, params = [] }: WalletRequest) => {
    if (method === "eth_requestAccounts") return [account.address];
    if (rejectsSigning) throw new Error("rejected");
    const message = hexToString(params[0] ?? "0x");
    signedMessages.push(message);
    return account.signMessage({ message });
  });
  await context.addInitScript("window.ethereum = { request: (asked) => window.askWallet(asked) }");
  return {
    signedMessages,
    get address() {
      return account.address;
    },
    /** Switches to another account of the user. */
    changeAccount: () => {
      account = privateKeyToAccount(generatePrivateKey());
    },
  };
};
