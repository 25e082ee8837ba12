import { ApiError } from "../api/api-error.ts";
import { callOperation } from "../api/call.ts";
import type { SignedSiweMessage } from "../api/operations.ts";
import { UserFacingError } from "./user-facing-error.ts";

type EthereumProvider = {
  request(args: { method: string; params?: readonly string[] }): Promise<unknown>;
};

/** Signs the service's message for the wallet's address with the browser's wallet (EIP-1193). */
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

/** Encodes the message's bytes in hex, as `personal_sign` requires. */
const toHex = (text: string): string => {
  const bytes = [...new TextEncoder().encode(text)];
  return `0x${bytes.map((byte) => byte.toString(16).padStart(2, "0")).join("")}`;
};
