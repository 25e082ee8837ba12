import { type SessionService, hashSecret } from "@payment-links/contracts";
import { type CookiePolicy, type SessionTokens, getSessionToken } from "@payment-links/http";
import { generateToken } from "../domain/token.ts";
import type { SessionHashes } from "../store/sessions.ts";

/**
 * Generates one token per service for a session. The tokens are independent, so the token that one
 * service receives does not reveal another service's token (rule CALLER-40).
 */
export const generateSessionTokens = (
  cookie: CookiePolicy,
): { tokens: SessionTokens; hashes: SessionHashes } => {
  const tokens: SessionTokens = {
    host: generateToken(),
    "auth-keys": generateToken(),
    "links-api": generateToken(),
    "webhook-dispatcher": generateToken(),
  };
  const hashTokenFor = (service: SessionService) =>
    hashSecret(getSessionToken(service, cookie, tokens));
  return {
    tokens,
    hashes: {
      "auth-keys": hashTokenFor("auth-keys"),
      "links-api": hashTokenFor("links-api"),
      "webhook-dispatcher": hashTokenFor("webhook-dispatcher"),
    },
  };
};
