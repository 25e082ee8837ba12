import { createHmac, randomBytes } from "node:crypto";

/** A nonce for Sign-In with Ethereum is good for so long: a message is too, from its making. */
export const nonceLifeMs = 5 * 60 * 1000;

/**
 * A person has so long to sign in at their identity provider; the browser's secret lives as long.
 */
export const oidcAttemptLifeMs = 10 * 60 * 1000;

/** Makes a nonce of 128 random bits; EIP-4361 wants letters and digits alone. */
export const mintNonce = (): string => randomBytes(16).toString("hex");

/** What binds an answer of an identity provider to the browser that asked for it. */
export type OidcFlow = { state: string; nonce: string; codeVerifier: string };

/**
 * The values of one sign-in at an identity provider. Nonce and verifier follow from the browser's
 * secret and the state, so that neither has to be kept anywhere (RFC 7636 §4.1: 43 characters).
 */
export const oidcFlow = (browserToken: string, state: string): OidcFlow => ({
  state,
  nonce: derive(browserToken, `nonce ${state}`),
  codeVerifier: derive(browserToken, `code verifier ${state}`),
});

const derive = (secret: string, purpose: string): string =>
  createHmac("sha256", secret).update(purpose).digest("base64url");
