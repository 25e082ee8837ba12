import type { BrowserContext } from "playwright-core";
import { hexToString } from "viem";
import { generatePrivateKey, privateKeyToAccount } from "viem/accounts";

type Asked = { method: string; params?: readonly `0x${string}`[] };

/** A wallet in a person's browser (EIP-1193), with a key of its own; it may refuse to sign. */
export const openWallet = async (context: BrowserContext, { refuses = false } = {}) => {
  let account = privateKeyToAccount(generatePrivateKey());
  const signed: string[] = [];
  await context.exposeFunction("askWallet", async ({ method, params = [] }: Asked) => {
    if (method === "eth_requestAccounts") return [account.address];
    if (refuses) throw new Error("rejected");
    const message = hexToString(params[0] ?? "0x");
    signed.push(message);
    return account.signMessage({ message });
  });
  await context.addInitScript("window.ethereum = { request: (asked) => window.askWallet(asked) }");
  return {
    signed,
    get address() {
      return account.address;
    },
    /** From now on the person uses another account of theirs. */
    changeAccount: () => {
      account = privateKeyToAccount(generatePrivateKey());
    },
  };
};
