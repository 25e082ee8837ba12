import { isAddressOrCidr } from "@payment-links/contracts";
import { ConfigError } from "@payment-links/runtime";

/**
 * Returns the addresses and CIDRs whose `X-Forwarded-For` Express trusts, read from the right.
 * Throws `ConfigError` for anything else. A number would be a hop count, which is unsafe if clients
 * can use another route. A name would stand for whole networks.
 */
export const parseTrustedProxies = (cidrs: readonly string[]): string[] => {
  const invalidIndex = cidrs.findIndex((cidr) => !isAddressOrCidr(cidr));
  if (invalidIndex !== -1) {
    throw new ConfigError(`TRUSTED_PROXIES: value ${invalidIndex + 1} is not an address or a CIDR`);
  }
  return [...cidrs];
};
