import { isIP } from "node:net";
import { isPublicAddress } from "./public-address.ts";
import type { Resolve } from "./resolver.ts";

/**
 * Thrown if a host has an address that is not publicly routable. The error deliberately does not
 * include the address.
 */
export class BlockedAddressError extends Error {
  constructor() {
    super("the host has an address that is not publicly routable");
    this.name = "BlockedAddressError";
  }
}

/** Thrown if DNS does not return an address for a host name. */
export class UnresolvedHostError extends Error {
  constructor() {
    super("the host name does not resolve");
    this.name = "UnresolvedHostError";
  }
}

export type PublicAddress = { address: string; family: 4 | 6 };

const addressesMax = 16;

/**
 * Resolves a host once and returns its addresses, which are all public. Rejects the whole host if a
 * single address is not public, because a socket could connect to that one. Throws
 * `BlockedAddressError` or `UnresolvedHostError`.
 */
export const resolvePublic = async (
  resolve: Resolve,
  hostName: string,
): Promise<readonly [PublicAddress, ...PublicAddress[]]> => {
  const addresses = await resolve(hostName).catch(() => []);
  if (!addresses.every(isPublicAddress)) throw new BlockedAddressError();
  const [firstAddress, ...remainingAddresses] = addresses.slice(0, addressesMax).map(withFamily);
  if (firstAddress === undefined) throw new UnresolvedHostError();
  return [firstAddress, ...remainingAddresses];
};

const withFamily = (address: string): PublicAddress => ({
  address,
  family: isIP(address) === 4 ? 4 : 6,
});
