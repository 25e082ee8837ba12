import { type ConfigError, createConfigError } from "@payment-links/runtime";

/** A chain is configured that cannot be watched; the words are for an operator. */
export const chainConfigError = (description: string): ConfigError =>
  createConfigError([`RPC_URLS: ${description}`]);
