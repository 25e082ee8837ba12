import { type SessionService, hashSecret } from "@payment-links/contracts";
import { type CookiePolicy, type SessionTokens, sessionTokenFor } from "@payment-links/http";
import { mintToken } from "../domain/token.ts";
import type { SessionHashes } from "../store/sessions.ts";

/**
 * Mints the secrets of a session. They are independent of one another, so what one service receives
 * reveals nothing about the token of another (rule CALLER-40).
 */
export const mintSession = (
  cookie: CookiePolicy,
): { tokens: SessionTokens; hashes: SessionHashes } => {
  const tokens: SessionTokens = {
    host: mintToken(),
    "auth-keys": mintToken(),
    "links-api": mintToken(),
    "webhook-dispatcher": mintToken(),
  };
  const hashFor = (service: SessionService) => hashSecret(sessionTokenFor(service, cookie, tokens));
  return {
    tokens,
    hashes: {
      "auth-keys": hashFor("auth-keys"),
      "links-api": hashFor("links-api"),
      "webhook-dispatcher": hashFor("webhook-dispatcher"),
    },
  };
};
