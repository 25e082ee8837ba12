import { isAddressOrCidr } from "@payment-links/contracts";
import { ConfigError } from "@payment-links/runtime";

/**
 * What Express is told of the proxies in front of us: the addresses and CIDRs whose
 * `X-Forwarded-For` is believed, read from the right. Throws ConfigError for anything else. A
 * number would mean a count of hops, and a client could come by another way. A name would stand for
 * whole networks.
 */
export const parseTrustedProxies = (cidrs: readonly string[]): string[] => {
  const invalidIndex = cidrs.findIndex((cidr) => !isAddressOrCidr(cidr));
  if (invalidIndex !== -1) {
    throw new ConfigError(`TRUSTED_PROXIES: value ${invalidIndex + 1} is no address and no CIDR`);
  }
  return [...cidrs];
};
