import * as z from "zod";

const chainIdCharsMax = 40;
const addressCharsMax = 100;

/** The maximum number of addresses in one request. */
export const requestedAddressesMax = 100;

/**
 * The request of links-api to settlement-listener about Bitcoin addresses that do not belong to a
 * link.
 */
export const UsedAddressesRequest = z.object({
  chainId: z.string().min(1).max(chainIdCharsMax),
  addresses: z.array(z.string().max(addressCharsMax)).min(1).max(requestedAddressesMax),
});
export type UsedAddressesRequest = z.output<typeof UsedAddressesRequest>;

/** The requested addresses that any transaction, in a block or in the mempool, has paid. */
export const UsedAddresses = z.object({ usedAddresses: z.array(z.string()) });
export type UsedAddresses = z.output<typeof UsedAddresses>;

/** Asks a node which addresses were used. Rejects if no node responds. */
export type FetchUsedAddresses = (request: UsedAddressesRequest) => Promise<UsedAddresses>;
