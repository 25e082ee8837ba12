import { request } from "undici";
import * as z from "zod";

/** Base Sepolia, a test network, and an address that nobody has the key of: no money can be at stake. */
const demoWallet = {
  walletAddress: "0x000000000000000000000000000000000000dEaD",
  tokenId: "usdc-base-sepolia",
  isDefault: true,
};

type DemoOptions = { baseUrl: string; internalUrl: string; internalToken: string | undefined };

const conflict = 409;

/** Makes the account `demo` with a default wallet, over the same calls that an operator has. */
export const makeDemoAccount = async (options: DemoOptions): Promise<{ signInUrl: string }> => {
  const { signInUrl } = await openSignIn(options, "/internal/accounts", {
    handle: "demo",
    username: "Demo Shop",
  });
  const token = new URLSearchParams(new URL(signInUrl).hash.slice(1)).get("token");
  const session = await post(`${options.baseUrl}/console/api/session`, { token });
  const cookie = String(session.headers["set-cookie"]).split(";", 1)[0] ?? "";
  await session.body.dump();
  const wallet = await post(`${options.baseUrl}/console/api/wallets`, demoWallet, { cookie });
  await wallet.body.dump();
  if (wallet.statusCode !== 201 && wallet.statusCode !== conflict) {
    throw new Error(`the demo wallet was answered with ${wallet.statusCode}`);
  }
  return openSignIn(options, "/internal/sign-in-links", { handle: "demo" });
};

const openSignIn = async (options: DemoOptions, path: string, body: Record<string, string>) => {
  const headers: Record<string, string> =
    options.internalToken === undefined ? {} : { authorization: `Bearer ${options.internalToken}` };
  const answer = await post(`${options.internalUrl}${path}`, body, headers);
  if (answer.statusCode === conflict) {
    // A start that ended before its demo was whole left the account behind.
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
