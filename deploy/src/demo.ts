import { request } from "undici";
import * as z from "zod";
import { type Catalogue, devnet } from "@payment-links/contracts";

/** An address whose private key is unknown. */
const walletAddress = "0x000000000000000000000000000000000000dEaD";
const baseSepolia = "usdc-base-sepolia";

/**
 * Returns the ids of the demo's tokens that are in the catalogue: one on the local EVM chain, if it
 * runs, and one on a test network. No real money is involved.
 */
export const demoTokenIds = (
  catalogue: Catalogue,
  { hasDevnet }: { hasDevnet: boolean },
): string[] =>
  [...(hasDevnet ? [devnet.tokenId] : []), baseSepolia].filter(
    (tokenId) => catalogue.findToken(tokenId) !== undefined,
  );

type DemoOptions = {
  baseUrl: string;
  internalUrl: string;
  operatorToken: string | undefined;
  /** The tokens of the demo's wallets, the default token first. */
  tokenIds: readonly string[];
};

const conflictStatus = 409;

/**
 * Creates the account `demo` and its wallets with the API calls that an operator and an owner would
 * use. The first wallet is the default. Returns a new sign-in link.
 */
export const createDemoAccount = async (options: DemoOptions): Promise<{ signInUrl: string }> => {
  const { signInUrl } = await requestSignInLink(options, "/internal/accounts", {
    handle: "demo",
    username: "Demo Shop",
  });
  const token = new URLSearchParams(new URL(signInUrl).hash.slice(1)).get("token");
  const session = await post(`${options.baseUrl}/console/api/session`, { token });
  await session.body.dump();
  const { headers, statusCode } = session;
  if (statusCode >= 300) throw new Error(`the demo sign-in failed with status ${statusCode}`);
  const cookie = String(headers["set-cookie"]).split(";", 1)[0] ?? "";
  for (const [index, tokenId] of options.tokenIds.entries()) {
    const wallet = { walletAddress, tokenId, isDefault: index === 0 };
    const walletResponse = await post(`${options.baseUrl}/console/api/wallets`, wallet, { cookie });
    await walletResponse.body.dump();
    if (walletResponse.statusCode !== 201 && walletResponse.statusCode !== conflictStatus) {
      throw new Error(`adding the demo wallet failed with status ${walletResponse.statusCode}`);
    }
  }
  const { signInUrl: newUrl } = await requestSignInLink(options, "/internal/sign-in-links", {
    handle: "demo",
  });
  // The demo's wallets are in test mode, so the link opens the console's test mode.
  return { signInUrl: newUrl.replace("/console/sign-in#", "/console/test/sign-in#") };
};

const requestSignInLink = async (
  options: DemoOptions,
  path: string,
  body: Record<string, string>,
) => {
  const headers: Record<string, string> =
    options.operatorToken === undefined ? {} : { authorization: `Bearer ${options.operatorToken}` };
  const response = await post(`${options.internalUrl}${path}`, body, headers);
  if (response.statusCode === conflictStatus) {
    // An earlier start may have stopped after it created the account but before it completed the
    // demo.
    await response.body.dump();
    const linkResponse = await post(
      `${options.internalUrl}/internal/sign-in-links`,
      { handle: "demo" },
      headers,
    );
    return z.object({ signInUrl: z.string() }).parse(await linkResponse.body.json());
  }
  return z.object({ signInUrl: z.string() }).parse(await response.body.json());
};

const post = (url: string, body: unknown, headers: Record<string, string> = {}) =>
  request(url, {
    method: "POST",
    headers: { "content-type": "application/json", ...headers },
    body: JSON.stringify(body),
  });
