import { createApiError } from "@payment-links/contracts";

/**
 * The maximum number of handles that an account can ever have. An account keeps all of its handles,
 * so without a limit one account could take any number of names.
 */
export const handlesMax = 3;

const handlePattern = /^[A-Za-z0-9_]{3,30}$/;

/** Words from our own URLs, or words that would let an account impersonate the service. */
const reservedHandles = new Set([
  "about",
  "account",
  "accounts",
  "admin",
  "administrator",
  "api",
  "api_keys",
  "app",
  "assets",
  "auth",
  "billing",
  "blog",
  "checkout",
  "console",
  "contact",
  "dashboard",
  "docs",
  "everyone",
  "help",
  "home",
  "internal",
  "legal",
  "livez",
  "login",
  "logout",
  "metrics",
  "moderator",
  "null",
  "oauth",
  "official",
  "openapi",
  "operator",
  "pay",
  "payment",
  "payment_link",
  "payment_links",
  "payments",
  "privacy",
  "readyz",
  "register",
  "robots",
  "root",
  "security",
  "service",
  "session",
  "settings",
  "settlement_notices",
  "sign_in",
  "sign_out",
  "sign_up",
  "signin",
  "signout",
  "signup",
  "staff",
  "static",
  "status",
  "support",
  "system",
  "team",
  "terms",
  "token",
  "tokens",
  "tx",
  "undefined",
  "user",
  "users",
  "v1",
  "v2",
  "wallet",
  "wallets",
  "webhook",
  "webhook_endpoints",
  "webhooks",
  "well_known",
  "www",
]);

/** Parses a handle as a user typed it into its normalized form. Throws INVALID_HANDLE. */
export const parseHandle = (input: string): string => {
  // Checks the format before lowercasing: U+212A, for example, lowercases to an ASCII k.
  if (!handlePattern.test(input)) throw createApiError("INVALID_HANDLE");
  const handle = input.toLowerCase();
  if (reservedHandles.has(handle)) throw createApiError("INVALID_HANDLE");
  return handle;
};
