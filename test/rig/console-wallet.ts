import type { BrowserContext } from "playwright-core";
import { hexToString } from "viem";
import { generatePrivateKey, privateKeyToAccount } from "viem/accounts";

type WalletRequest = { method: string; params?: readonly `0x${string}`[] };

/** A wallet in a person's browser (EIP-1193), with a key of its own; it may refuse to sign. */
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
    /** From now on the person uses another account of theirs. */
    changeAccount: () => {
      account = privateKeyToAccount(generatePrivateKey());
    },
  };
};
