import { type ConfigError, configError } from "@payment-links/runtime";

/** A chain is configured that cannot be watched; the words are for an operator. */
export const configFault = (what: string): ConfigError => configError([`RPC_URLS: ${what}`]);
