import { generatePrivateKey, privateKeyToAccount } from "viem/accounts";
import { type SiweMessage, createSiweMessage } from "viem/siwe";
import { type Rig, cookieOf } from "./open-rig.ts";

/** An Ethereum account that nobody owns, as a wallet holds it. */
export const makeWallet = () => privateKeyToAccount(generatePrivateKey());
export type TestWallet = ReturnType<typeof makeWallet>;

/**
 * A message for the rig's origin, written by viem, which is independent of the reader under test.
 */
export const siweMessage = (
  given: Pick<SiweMessage, "address" | "nonce" | "issuedAt"> & Partial<SiweMessage>,
): string =>
  createSiweMessage({
    domain: "127.0.0.1:8080",
    uri: "http://127.0.0.1:8080",
    version: "1",
    chainId: 8453,
    ...given,
  });

/** Signs a message as a wallet does (EIP-191). */
export const signSiwe = async (wallet: TestWallet, message: string) => ({
  message,
  signature: await wallet.signMessage({ message }),
});

/**
 * Asks for a nonce as a tab of a browser does, which sends its cookie and keeps what it is given.
 */
export const askNonce = async (rig: Rig, cookie?: string) => {
  const path = "/console/api/session/nonce";
  const answer = await rig.call("GET", path, cookie === undefined ? {} : { cookie });
  return { nonce: String(answer.body["nonce"]), browser: cookieOf(answer.headers) };
};

/** All that a wallet sends to sign in, with a nonce of the given browser or a new one. */
export const prepareSiwe = async (rig: Rig, wallet: TestWallet, cookie?: string) => {
  const { nonce, browser } = await askNonce(rig, cookie);
  const { address } = wallet;
  const message = siweMessage({ address, nonce, issuedAt: rig.clock.now() });
  return { browser, siwe: await signSiwe(wallet, message) };
};

/** Signs a wallet in; answers its account and the session's cookie. */
export const signInByWallet = async (rig: Rig, wallet: TestWallet) => {
  const { browser, siwe } = await prepareSiwe(rig, wallet);
  const answer = await rig.call("POST", "/console/api/session", {
    cookie: browser,
    body: { siwe },
  });
  if (answer.status !== 200) throw new Error(`signing in was answered with ${answer.text}`);
  return { userId: String(answer.body["id"]), cookie: cookieOf(answer.headers), browser };
};
