import { ApiError } from "../api/api-error.ts";
import { callOperation } from "../api/call.ts";
import type { SignedSiweMessage } from "../api/operations.ts";
import { UserFacingError } from "./user-facing-error.ts";

type EthereumProvider = {
  request(args: { method: string; params?: readonly string[] }): Promise<unknown>;
};

/** Has the browser's wallet sign the message that the server wrote for its address (EIP-1193). */
export const signWithWallet = async (): Promise<SignedSiweMessage> => {
  const provider = (window as { ethereum?: EthereumProvider }).ethereum;
  if (provider === undefined) throw new UserFacingError("noWallet");
  try {
    const [address = ""] = (await provider.request({ method: "eth_requestAccounts" })) as string[];
    const { message = "" } = await callOperation("getNonce", { query: { address } });
    const params = [toHex(message), address];
    const signature = String(await provider.request({ method: "personal_sign", params }));
    return { message, signature };
  } catch (error) {
    throw error instanceof ApiError ? error : new UserFacingError("walletRefused");
  }
};

/** The message's bytes as a wallet wants them. */
const toHex = (text: string): string => {
  const bytes = [...new TextEncoder().encode(text)];
  return `0x${bytes.map((byte) => byte.toString(16).padStart(2, "0")).join("")}`;
};
