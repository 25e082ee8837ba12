import { request } from "undici";
import * as z from "zod";
import { devnet } from "@payment-links/contracts";

/** An address whose key nobody has. */
const walletAddress = "0x000000000000000000000000000000000000dEaD";
/** Test networks only, so that no money is at stake. */
const baseSepolia = "usdc-base-sepolia";

type DemoOptions = {
  baseUrl: string;
  internalUrl: string;
  internalToken: string | undefined;
  /** Whether the development chain runs: links are then paid there by default. */
  withDevnet: boolean;
};

const conflict = 409;

/**
 * Makes the account `demo` with its wallets, the default one first, by the same calls that an
 * operator makes.
 */
export const makeDemoAccount = async (options: DemoOptions): Promise<{ signInUrl: string }> => {
  const { signInUrl } = await openSignIn(options, "/internal/accounts", {
    handle: "demo",
    username: "Demo Shop",
  });
  const token = new URLSearchParams(new URL(signInUrl).hash.slice(1)).get("token");
  const session = await post(`${options.baseUrl}/console/api/session`, { token });
  const cookie = String(session.headers["set-cookie"]).split(";", 1)[0] ?? "";
  await session.body.dump();
  const tokenIds = options.withDevnet ? [devnet.tokenId, baseSepolia] : [baseSepolia];
  for (const [index, tokenId] of tokenIds.entries()) {
    const wallet = { walletAddress, tokenId, isDefault: index === 0 };
    const added = await post(`${options.baseUrl}/console/api/wallets`, wallet, { cookie });
    await added.body.dump();
    if (added.statusCode !== 201 && added.statusCode !== conflict) {
      throw new Error(`the demo wallet was answered with ${added.statusCode}`);
    }
  }
  return openSignIn(options, "/internal/sign-in-links", { handle: "demo" });
};

const openSignIn = async (options: DemoOptions, path: string, body: Record<string, string>) => {
  const headers: Record<string, string> =
    options.internalToken === undefined ? {} : { authorization: `Bearer ${options.internalToken}` };
  const answer = await post(`${options.internalUrl}${path}`, body, headers);
  if (answer.statusCode === conflict) {
    // A start that ended before its demo was complete has left the account behind.
    await answer.body.dump();
    const again = await post(
      `${options.internalUrl}/internal/sign-in-links`,
      { handle: "demo" },
      headers,
    );
    return z.object({ signInUrl: z.string() }).parse(await again.body.json());
  }
  return z.object({ signInUrl: z.string() }).parse(await answer.body.json());
};

const post = (url: string, body: unknown, headers: Record<string, string> = {}) =>
  request(url, {
    method: "POST",
    headers: { "content-type": "application/json", ...headers },
    body: JSON.stringify(body),
  });
