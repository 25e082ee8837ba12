import { type ConfigError, createConfigError } from "@payment-links/runtime";

/**
 * Creates the error for a configured chain that cannot be watched. The description is for the
 * operator.
 */
export const chainConfigError = (description: string): ConfigError =>
  createConfigError([`RPC_URLS: ${description}`]);
