import * as z from "zod";

const chainIdCharsMax = 40;
const addressCharsMax = 100;

/** The most addresses that one question names. */
export const requestedAddressesMax = 100;

/** What links-api asks settlement-listener about addresses of Bitcoin that no link has. */
export const UsedAddressesRequest = z.object({
  chainId: z.string().min(1).max(chainIdCharsMax),
  addresses: z.array(z.string().max(addressCharsMax)).min(1).max(requestedAddressesMax),
});
export type UsedAddressesRequest = z.output<typeof UsedAddressesRequest>;

/** Those of the addresses that some transaction has paid, in a block or in the mempool. */
export const UsedAddresses = z.object({ usedAddresses: z.array(z.string()) });
export type UsedAddresses = z.output<typeof UsedAddresses>;

/** Asks a node which addresses were used; rejects if no node can tell. */
export type FetchUsedAddresses = (request: UsedAddressesRequest) => Promise<UsedAddresses>;
