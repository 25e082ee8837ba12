import { createHmac, randomUUID } from "node:crypto";
import { request } from "undici";
import type { Mode } from "@payment-links/contracts";

type ClientResponse = {
  status: number;
  headers: Record<string, string | string[] | undefined>;
  // The JSON of a response is untyped. Each test reads only the fields that it asserts.
  body: Record<string, unknown>;
};

type CallOptions = {
  method?: "GET" | "POST" | "PATCH" | "DELETE";
  headers?: Record<string, string>;
  body?: unknown;
};

/** Sends a request with a JSON body and parses the JSON response. */
export const call = async (
  url: string,
  { method = "GET", headers = {}, body }: CallOptions = {},
) => {
  const response = await request(url, {
    method,
    headers: { ...(body === undefined ? {} : { "content-type": "application/json" }), ...headers },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  });
  const text = await response.body.text();
  const isJson = String(response.headers["content-type"]).includes("json");
  return {
    status: response.statusCode,
    headers: response.headers,
    body: (isJson ? JSON.parse(text) : { text }) as Record<string, unknown>,
  } satisfies ClientResponse;
};

export type Merchant = { userId: string; handle: string; cookie: string; apiKey: string };

type System = { baseUrl: string; internalUrl: string; operatorToken?: string };

const operatorHeaders = ({ operatorToken: token }: System): Record<string, string> =>
  token === undefined ? {} : { authorization: `Bearer ${token}` };

/**
 * Creates an account as an operator, signs in with its sign-in link, and creates a wallet and an
 * API key of the given mode.
 */
export const createMerchant = async (
  system: System,
  handle: string,
  { mode = "live" }: { mode?: Mode } = {},
): Promise<Merchant> => {
  const accountResponse = await call(`${system.internalUrl}/internal/accounts`, {
    method: "POST",
    headers: operatorHeaders(system),
    body: { handle, username: `Shop ${handle}` },
  });
  const cookie = await signIn(system, String(accountResponse.body["signInUrl"]));
  await call(`${system.baseUrl}/console/api/wallets`, {
    method: "POST",
    headers: { cookie },
    body: { walletAddress: shopAddress, tokenId: defaultTokens[mode], isDefault: true },
  });
  const apiKey = await createApiKey(system, { cookie }, mode);
  return { userId: String(accountResponse.body["userId"]), handle, cookie, apiKey };
};

const defaultTokens = { live: "usdc-base", test: "usdc-base-sepolia" };

/** Creates an API key with all scopes. Returns the key. */
export const createApiKey = async (
  { baseUrl }: Pick<System, "baseUrl">,
  { cookie }: Pick<Merchant, "cookie">,
  mode: Mode,
): Promise<string> => {
  const scopes = ["payment_link:create", "payment_link:read"];
  const response = await call(`${baseUrl}/console/api/api-keys`, {
    method: "POST",
    headers: { cookie },
    body: { name: "tests", scopes, mode },
  });
  if (response.status !== 201)
    throw new Error(`the API key was not created: ${JSON.stringify(response)}`);
  return String(response.body["key"]);
};

/**
 * Signs the merchant in again with a link from the operator. Returns the cookies of the new
 * session.
 */
export const signInAgain = async (
  system: System,
  merchant: Pick<Merchant, "handle">,
): Promise<string> => getCookies(await requestSignIn(system, merchant));

/** Signs the merchant in again. Returns the whole response. */
export const requestSignIn = async (
  system: System,
  { handle }: Pick<Merchant, "handle">,
): Promise<ClientResponse> => {
  const linkResponse = await call(`${system.internalUrl}/internal/sign-in-links`, {
    method: "POST",
    headers: operatorHeaders(system),
    body: { handle },
  });
  return redeemSignInLink(system, String(linkResponse.body["signInUrl"]));
};

/** Redeems a one-time sign-in link and returns the session's cookies. */
const signIn = async (system: System, signInUrl: string): Promise<string> =>
  getCookies(await redeemSignInLink(system, signInUrl));

/**
 * Returns the cookies that a response sets, without duplicates, as a `Cookie` header. Ignores the
 * cookies' paths, so the client sends all of them with every request.
 */
export const getCookies = ({ headers }: Pick<ClientResponse, "headers">): string => {
  const setCookieHeaders = [headers["set-cookie"] ?? []].flat();
  return [...new Set(setCookieHeaders.map((header) => header.split(";", 1)[0] ?? ""))].join("; ");
};

const redeemSignInLink = async (system: System, signInUrl: string): Promise<ClientResponse> => {
  const token = new URLSearchParams(new URL(signInUrl).hash.slice(1)).get("token");
  const session = await call(`${system.baseUrl}/console/api/session`, {
    method: "POST",
    body: { token },
  });
  if (session.status !== 200) throw new Error(`signing in failed: ${JSON.stringify(session)}`);
  return session;
};

/** Any EVM address works, because the tests do not move real money. */
const shopAddress = "0x52908400098527886E0F7030069857D2E4169EE7";

/** USDC on Base, as listed in the catalogue. */
export const usdcOnBase = {
  chainId: "8453",
  tokenAddress: "0x833589fCD6eDb6E08f4c7C32D4f71b54bdA02913",
};

export type SettlementNotice = {
  id: string;
  paymentLinkId: string;
  status: "processing" | "settled" | "failed";
  amount: string;
  sourceTransaction?: string | null;
  occurredAt?: string;
};

/** Returns the headers with which a provider signs a notice (Standard Webhooks 1.0). */
export const signNotice = (
  secret: string,
  { id, sentAtMs, body }: { id: string; sentAtMs: number; body: string },
): Record<string, string> => {
  const timestamp = String(Math.floor(sentAtMs / 1000));
  const key = Buffer.from(secret.replace(/^whsec_/, ""), "base64");
  const signature = createHmac("sha256", key).update(`${id}.${timestamp}.${body}`).digest("base64");
  return {
    "webhook-id": id,
    "webhook-timestamp": timestamp,
    "webhook-signature": `v1,${signature}`,
  };
};

/** Sends a signed settlement notice as a provider would. */
export const sendNotice = async (
  baseUrl: string,
  { provider, secret }: { provider: string; secret: string },
  notice: SettlementNotice,
  extraHeaders: Record<string, string> = {},
): Promise<number> => {
  const { occurredAt = new Date().toISOString() } = notice;
  const body = JSON.stringify({
    ...usdcOnBase,
    destinationAddress: shopAddress,
    sourceTransaction: null,
    ...notice,
    occurredAt,
  });
  const id = `msg_${randomUUID()}`;
  const response = await request(`${baseUrl}/settlement-notices/${provider}`, {
    method: "POST",
    headers: {
      "content-type": "application/json",
      ...signNotice(secret, { id, sentAtMs: Date.parse(occurredAt), body }),
      ...extraHeaders,
    },
    body,
  });
  await response.body.dump();
  return response.statusCode;
};
