import { generatePrivateKey, privateKeyToAccount } from "viem/accounts";
import { type SiweMessage, createSiweMessage } from "viem/siwe";
import { type Rig, getCookies } from "./create-rig.ts";

/** Creates an Ethereum account with a random key, like a wallet's. */
export const createWallet = () => privateKeyToAccount(generatePrivateKey());
export type TestWallet = ReturnType<typeof createWallet>;

/**
 * Returns a message for the rig's origin, written by viem, which is independent of the parser under
 * test.
 */
export const createTestSiweMessage = (
  fields: Pick<SiweMessage, "address" | "nonce" | "issuedAt"> & Partial<SiweMessage>,
): string =>
  createSiweMessage({
    domain: "127.0.0.1:8080",
    uri: "http://127.0.0.1:8080",
    version: "1",
    chainId: 8453,
    ...fields,
  });

/** Signs a message as a wallet does (EIP-191). */
export const signSiwe = async (wallet: TestWallet, message: string) => ({
  message,
  signature: await wallet.signMessage({ message }),
});

/** Requests a nonce as a browser tab would, and returns it with the browser's cookie. */
export const fetchNonce = async (rig: Rig, cookie?: string) => {
  const path = "/console/api/session/nonce";
  const response = await rig.call("GET", path, cookie === undefined ? {} : { cookie });
  return { nonce: String(response.body["nonce"]), browserCookie: getCookies(response.headers) };
};

/** Returns everything that a wallet sends to sign in, with a nonce for the given or a new browser. */
export const prepareSiwe = async (rig: Rig, wallet: TestWallet, cookie?: string) => {
  const { nonce, browserCookie } = await fetchNonce(rig, cookie);
  const { address } = wallet;
  const message = createTestSiweMessage({ address, nonce, issuedAt: rig.clock.now() });
  return { browserCookie, siwe: await signSiwe(wallet, message) };
};

/** Signs in with a wallet. Returns the account id and the cookies. */
export const signInWithWallet = async (rig: Rig, wallet: TestWallet) => {
  const { browserCookie, siwe } = await prepareSiwe(rig, wallet);
  const response = await rig.call("POST", "/console/api/session", {
    cookie: browserCookie,
    body: { siwe },
  });
  if (response.status !== 200) throw new Error(`sign-in failed: ${response.text}`);
  return {
    userId: String(response.body["id"]),
    cookie: getCookies(response.headers),
    browser: browserCookie,
  };
};
