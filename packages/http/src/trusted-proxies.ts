import { isAddressOrCidr } from "@payment-links/contracts";
import { ConfigError } from "@payment-links/runtime";

/**
 * What Express is told of the proxies in front of us: the addresses and CIDRs whose
 * `X-Forwarded-For` is believed, read from the right. Throws ConfigError for anything else. A
 * number would mean a count of hops, and a client could come by another way. A name would stand for
 * whole networks.
 */
export const trustProxySetting = (cidrs: readonly string[]): string[] => {
  const wrong = cidrs.filter((cidr) => !isAddressOrCidr(cidr));
  if (wrong.length > 0) {
    throw new ConfigError(`TRUSTED_PROXIES: no address and no CIDR: ${wrong.join(", ")}`);
  }
  return [...cidrs];
};
