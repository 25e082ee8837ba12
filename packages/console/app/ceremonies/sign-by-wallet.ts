import { ApiError } from "../api/api-error.ts";
import { call } from "../api/call.ts";
import type { SignedSiweMessage } from "../api/operations.ts";
import { ToldError } from "./told-error.ts";

type Wallet = {
  request(asked: { method: string; params?: readonly string[] }): Promise<unknown>;
};

/** Has the browser's wallet sign the message that the server wrote for its address (EIP-1193). */
export const signByWallet = async (): Promise<SignedSiweMessage> => {
  const wallet = (window as { ethereum?: Wallet }).ethereum;
  if (wallet === undefined) throw new ToldError("noWallet");
  try {
    const [address = ""] = (await wallet.request({ method: "eth_requestAccounts" })) as string[];
    const { message = "" } = await call("getNonce", { query: { address } });
    const params = [hexOf(message), address];
    const signature = String(await wallet.request({ method: "personal_sign", params }));
    return { message, signature };
  } catch (error) {
    throw error instanceof ApiError ? error : new ToldError("walletRefused");
  }
};

/** The message's bytes as a wallet wants them. */
const hexOf = (text: string): string => {
  const bytes = [...new TextEncoder().encode(text)];
  return `0x${bytes.map((byte) => byte.toString(16).padStart(2, "0")).join("")}`;
};
