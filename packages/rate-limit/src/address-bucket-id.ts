import { isIP } from "node:net";
import ipaddr from "ipaddr.js";

/**
 * Returns the id of an address's bucket. An IPv4 address has its own bucket. IPv6 addresses share
 * one bucket per /64 network, which is the usual allocation of one customer. An IPv4-mapped IPv6
 * address (`::ffff:0:0/96`, in any notation) uses the bucket of its IPv4 address. All invalid
 * addresses share one bucket.
 */
export const addressBucketId = (ip: string): string => {
  const family = isIP(ip);
  if (family === 4) return ip;
  if (family === 0) return "no-address";
  const { parts } = ipaddr.IPv6.parse(ip);
  if (isIpv4Mapped(parts)) return parts.slice(6).flatMap(toOctets).join(".");
  return `${parts.slice(0, 4).map(toHex).join(":")}::/64`;
};

/** Compares bits instead of text, because the client chooses the notation. */
const isIpv4Mapped = (groups: readonly number[]): boolean =>
  groups.slice(0, 5).every((group) => group === 0) && groups[5] === 0xff_ff;

const toOctets = (group: number): number[] => [group >> 8, group & 0xff];

const toHex = (group: number): string => group.toString(16);
