import { createHmac, randomBytes } from "node:crypto";

/** A nonce for Sign-In with Ethereum is valid as long as a message. */
export const nonceLifetimeMs = 5 * 60 * 1000;

/**
 * How long a user may take to sign in at the identity provider. The browser's secret is valid as
 * long.
 */
export const oidcAttemptLifetimeMs = 10 * 60 * 1000;

/** Generates a nonce of 128 random bits. EIP-4361 allows only letters and digits. */
export const generateNonce = (): string => randomBytes(16).toString("hex");

/** The values that bind an identity provider's response to the browser that started the flow. */
export type OidcFlow = { state: string; nonce: string; codeVerifier: string };

/**
 * Derives the values of one sign-in at an identity provider. Nonce and verifier come from the
 * browser's secret and the state, so neither is stored (RFC 7636 §4.1: 43 characters).
 */
export const deriveOidcFlow = (browserToken: string, state: string): OidcFlow => ({
  state,
  nonce: deriveSecret(browserToken, `nonce ${state}`),
  codeVerifier: deriveSecret(browserToken, `code verifier ${state}`),
});

const deriveSecret = (secret: string, purpose: string): string =>
  createHmac("sha256", secret).update(purpose).digest("base64url");
