import { call, sendNotice, signInAgain } from "../rig/client.ts";
import { acmeProvider } from "../rig/shop-env.ts";
import { callConsole } from "./call-console.ts";
import type { Shop } from "./create-shop.ts";

/** An address for each token. On Bitcoin, it is an extended public key. */
const walletAddresses = {
  "usdc-devnet": "0x8617E340B3D01FA5F11F306F4090FD50E238070D",
  "usdc-local-solana": "1nc1nerator11111111111111111111111111111111",
  "usdc-local-tron": "T9yD14Nj9j7xAB4dbGeiX9h8upfCg3PBbY",
  "btc-local-bitcoin":
    "vpub5Y6cjg78GGuNLsaPhmYsiw4gYX3HoQiRBiSwDaBXKUafCt9bNwWQiitDk5VZ5BVxYnQdwoTyXSs2JHRPAgjAvtbBrf8ZhDYe2jWAqvZVnsc",
} as const;
export type TokenId = keyof typeof walletAddresses | "usdc-base";

type NewLink = { tokenId: TokenId; toAmount: string; description: string };
type Wallet = { id: string; token: { id: string } };

/** Creates a link in the given token, which becomes the shop's default token of its mode. */
export const createLink = async (
  shop: Shop,
  { tokenId, ...body }: NewLink,
): Promise<{ id: string; url: string }> => {
  await makeDefault(shop, tokenId);
  // With an older session, the link could still use the previous default token, because the account
  // is cached for a short time.
  const cookie = await signInAgain(shop, { handle: "tea_house" });
  const mode = tokenId === "usdc-base" ? "live" : "test";
  const { id, url } = await callConsole({ ...shop, cookie }, `payment-links?mode=${mode}`, {
    body,
  });
  return { id: String(id), url: String(url) };
};

const makeDefault = async (shop: Shop, tokenId: TokenId): Promise<void> => {
  const wallets = (await callConsole(shop, "wallets", { method: "GET" }))["data"] as Wallet[];
  const wallet = wallets.find(({ token }) => token.id === tokenId);
  if (wallet !== undefined) {
    const body = { isDefault: true };
    await callConsole(shop, `wallets/${wallet.id}`, { method: "PATCH", body });
    return;
  }
  if (tokenId === "usdc-base") throw new Error("the shop was created without this wallet");
  const body = { walletAddress: walletAddresses[tokenId], tokenId, isDefault: true };
  await callConsole(shop, "wallets", { body });
};

/** Creates an account and returns its sign-in link. */
export const createAccount = (
  shop: Shop,
  account: { handle: string; username: string },
): Promise<string> => postForSignInUrl(shop, "accounts", account);

/** Returns a new sign-in link of an account. */
export const createSignInUrl = (shop: Shop, handle: string): Promise<string> =>
  postForSignInUrl(shop, "sign-in-links", { handle });

const postForSignInUrl = async (shop: Shop, path: string, body: object): Promise<string> =>
  String((await postInternal(shop, path, body))["signInUrl"]);

const postInternal = async ({ internalUrl }: Shop, path: string, body: object) => {
  const response = await call(`${internalUrl}/internal/${path}`, { method: "POST", body });
  if (response.status >= 300) throw new Error(`${path}: ${JSON.stringify(response.body)}`);
  return response.body;
};

/** Pays a link on its local chain. */
export const payOnChain = (shop: Shop, paymentLinkId: string): Promise<unknown> =>
  postInternal(shop, "devnet/payments", { paymentLinkId });

/** Reports a payment of a link on Base, as a provider would. */
export const reportPayment = async (
  { baseUrl, now }: Shop,
  payment: { id: string; paymentLinkId: string; amount: string },
): Promise<void> => {
  const notice = { ...payment, status: "settled", occurredAt: now.toISOString() } as const;
  const status = await sendNotice(baseUrl, acmeProvider, notice);
  if (status >= 300) throw new Error(`the notice got the response ${status}`);
};
