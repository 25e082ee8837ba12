import { isIP } from "node:net";
import ipaddr from "ipaddr.js";

type IpRange = readonly [ipaddr.IPv4 | ipaddr.IPv6, number];

const parseRanges = (...cidrs: string[]): readonly IpRange[] =>
  cidrs.map((cidr) => ipaddr.parseCIDR(cidr));

/**
 * The special-purpose registries of IANA, further addresses that clouds use internally, multicast,
 * and the reserved ranges.
 */
const blockedIpv4Ranges = parseRanges(
  "0.0.0.0/8",
  "10.0.0.0/8",
  "100.64.0.0/10",
  "127.0.0.0/8",
  // Azure's metadata service and agents: the address looks public, but is internal.
  "168.63.129.16/32",
  "169.254.0.0/16",
  "172.16.0.0/12",
  "192.0.0.0/24",
  "192.0.2.0/24",
  "192.88.99.0/24",
  "192.168.0.0/16",
  "198.18.0.0/15",
  "198.51.100.0/24",
  "203.0.113.0/24",
  "224.0.0.0/4",
  "240.0.0.0/4",
);

/**
 * Global unicast. All other ranges (mapped, unique-local, link-local, multicast, …) are blocked.
 */
const allowedIpv6Ranges = parseRanges("2000::/3");

/**
 * Teredo and similar protocols, documentation, and 6to4. These parts of global unicast are not used
 * for ordinary public hosts.
 */
const blockedIpv6Ranges = parseRanges("2001::/23", "2001:db8::/32", "2002::/16", "3fff::/20");

const nat64Ranges = parseRanges("64:ff9b::/96");
const nat64PrefixBytes = 12;

/**
 * Returns whether an address from a resolver or socket is publicly routable (rule HOOK-3). Returns
 * false for any other text. For a NAT64 address, the embedded IPv4 address decides, because public
 * hosts resolve to NAT64 addresses in a network with DNS64.
 */
export const isPublicAddress = (addressText: string): boolean => {
  // `isIP` is stricter than the parser below, which accepts octal parts. An address with a zone is
  // a local address.
  if (isIP(addressText) === 0 || addressText.includes("%")) return false;
  return isPublic(ipaddr.parse(addressText));
};

const isPublic = (address: ipaddr.IPv4 | ipaddr.IPv6): boolean => {
  if (address instanceof ipaddr.IPv4) return !isWithin(address, blockedIpv4Ranges);
  if (isWithin(address, nat64Ranges)) {
    return isPublic(new ipaddr.IPv4(address.toByteArray().slice(nat64PrefixBytes)));
  }
  return isWithin(address, allowedIpv6Ranges) && !isWithin(address, blockedIpv6Ranges);
};

const isWithin = (address: ipaddr.IPv4 | ipaddr.IPv6, ranges: readonly IpRange[]): boolean =>
  ranges.some(([network, prefixBits]) => address.match(network, prefixBits));
