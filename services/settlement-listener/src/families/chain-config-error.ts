import { type ConfigError, createConfigError } from "@payment-links/runtime";

/** Creates the error for a configured chain that cannot be watched, in words for an operator. */
export const chainConfigError = (description: string): ConfigError =>
  createConfigError([`RPC_URLS: ${description}`]);
