import { ConfigError } from "@payment-links/runtime";

/** A chain is configured that cannot be watched; the words are for an operator. */
export const configFault = (what: string): ConfigError =>
  new ConfigError(`The configuration cannot be used:\n  RPC_URLS: ${what}`);
