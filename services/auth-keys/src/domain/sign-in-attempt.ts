import { createHmac, randomBytes } from "node:crypto";

/** A nonce for Sign-In with Ethereum is good for as long as a message is. */
export const nonceLifetimeMs = 5 * 60 * 1000;

/**
 * A person has so long to sign in at their identity provider. The browser's secret lives as long.
 */
export const oidcAttemptLifetimeMs = 10 * 60 * 1000;

/** Makes a nonce of 128 random bits. EIP-4361 allows letters and digits only. */
export const generateNonce = (): string => randomBytes(16).toString("hex");

/** What binds an answer of an identity provider to the browser that asked for it. */
export type OidcFlow = { state: string; nonce: string; codeVerifier: string };

/**
 * The values of one sign-in at an identity provider. Nonce and verifier are derived from the
 * browser's secret and the state, so neither is stored (RFC 7636 §4.1: 43 characters).
 */
export const deriveOidcFlow = (browserToken: string, state: string): OidcFlow => ({
  state,
  nonce: deriveSecret(browserToken, `nonce ${state}`),
  codeVerifier: deriveSecret(browserToken, `code verifier ${state}`),
});

const deriveSecret = (secret: string, purpose: string): string =>
  createHmac("sha256", secret).update(purpose).digest("base64url");
