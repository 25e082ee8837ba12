import { isAddressOrCidr } from "@payment-links/contracts";
import { ConfigError } from "@payment-links/runtime";

/**
 * Returns the addresses and CIDRs that Express trusts in `X-Forwarded-For`, which it reads from
 * right to left. Throws `ConfigError` for any other value. Express would treat a number as a hop
 * count, which is unsafe if clients can reach the service by another route, and a name as a whole
 * group of networks.
 */
export const parseTrustedProxies = (cidrs: readonly string[]): string[] => {
  const invalidIndex = cidrs.findIndex((cidr) => !isAddressOrCidr(cidr));
  if (invalidIndex !== -1) {
    throw new ConfigError(`TRUSTED_PROXIES: value ${invalidIndex + 1} is not an address or a CIDR`);
  }
  return [...cidrs];
};
