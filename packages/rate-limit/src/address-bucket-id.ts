import { isIP } from "node:net";
import ipaddr from "ipaddr.js";

/**
 * The bucket in which an address counts: an IPv4 address has its own, and an IPv6 address shares
 * that of its /64, which is what one customer gets. IPv4 written as IPv6 (`::ffff:0:0/96`, in any
 * notation) is that IPv4 address. All texts that are no address share one bucket.
 */
export const addressBucketId = (ip: string): string => {
  const family = isIP(ip);
  if (family === 4) return ip;
  if (family === 0) return "no-address";
  const { parts } = ipaddr.IPv6.parse(ip);
  if (isMapped(parts)) return parts.slice(6).flatMap(octets).join(".");
  return `${parts.slice(0, 4).map(hex).join(":")}::/64`;
};

/** The bits decide, because the caller chooses the notation. */
const isMapped = (parts: readonly number[]): boolean =>
  parts.slice(0, 5).every((part) => part === 0) && parts[5] === 0xff_ff;

const octets = (part: number): number[] => [part >> 8, part & 0xff];

const hex = (part: number): string => part.toString(16);
