import { createHmac, randomBytes } from "node:crypto";

/** A nonce for Sign-In with Ethereum has the same lifetime as a message. */
export const nonceLifetimeMs = 5 * 60 * 1000;

/**
 * How long a user can take to sign in at the identity provider. The browser's secret has the same
 * lifetime.
 */
export const oidcAttemptLifetimeMs = 10 * 60 * 1000;

/** Generates a nonce of 128 random bits. EIP-4361 allows only letters and digits. */
export const generateNonce = (): string => randomBytes(16).toString("hex");

/** The values that bind an identity provider's response to the browser that started the flow. */
export type OidcFlow = { state: string; nonce: string; codeVerifier: string };

/**
 * Derives the nonce and the PKCE verifier of one sign-in at the identity provider. Both are derived
 * from the browser's secret and the state, so they do not have to be stored. The verifier has 43
 * characters (RFC 7636 §4.1).
 */
export const deriveOidcFlow = (browserToken: string, state: string): OidcFlow => ({
  state,
  nonce: deriveSecret(browserToken, `nonce ${state}`),
  codeVerifier: deriveSecret(browserToken, `code verifier ${state}`),
});

const deriveSecret = (secret: string, purpose: string): string =>
  createHmac("sha256", secret).update(purpose).digest("base64url");
