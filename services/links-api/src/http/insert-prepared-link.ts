import assert from "node:assert/strict";
import { getFamily } from "@payment-links/chains";
import type { Transaction } from "@payment-links/postgres";
import type { PayableAccount } from "../domain/link.ts";
import { insertAddress, allocateAddressIndex } from "../store/link-addresses.ts";
import type { StoredResponse } from "../store/idempotency-keys.ts";
import { type NewLink, insertLink } from "../store/links.ts";
import { reserveAddresses } from "../store/reserve-addresses.ts";

/** A link to insert, and the response to its creator. */
export type NewLinkWithResponse = NewLink & { response: StoredResponse["answer"] };

/** A validated request, which becomes a link once its destination address is known. */
export type PreparedLink = {
  owner: PayableAccount;
  buildNewLink: (destinationAddress: string) => NewLinkWithResponse;
};

/**
 * Returns whether the link needs its own address, which is allocated in the transaction that
 * inserts the link.
 */
export const needsOwnAddress = ({ owner }: PreparedLink): boolean =>
  getFamily(owner.token.chain.chainType).linkAddresses !== undefined;

/**
 * Inserts a link. If the link needs its own address, allocates an address of the owner's key that no
 * other link has had or will get (rule API-33).
 */
export const insertPreparedLink = async (
  tx: Transaction,
  { owner, buildNewLink }: PreparedLink,
): Promise<NewLinkWithResponse> => {
  const { firstAddressIndex: firstIndex = 0, walletAddress } = owner.wallet;
  const { chainType, id: chainId } = owner.token.chain;
  const { linkAddresses } = getFamily(chainType);
  if (linkAddresses === undefined) {
    const newLink = buildNewLink(walletAddress);
    await insertLink(tx, newLink);
    return newLink;
  }
  const keyId = linkAddresses.computeKeyId(chainId, walletAddress);
  const { index, reservedTo } = await allocateAddressIndex(tx, { keyId, firstIndex });
  const range = { startIndex: index, count: 1 };
  const [address] = linkAddresses.deriveAddresses(chainId, walletAddress, range);
  assert.ok(address !== undefined, "no address was derived from the wallet's key");
  const newLink = buildNewLink(address);
  await insertLink(tx, newLink);
  const { createdAt: now, id: linkId } = newLink.link;
  await insertAddress(tx, { keyId, index, address, linkId });
  const key = { chainId, key: walletAddress, keyId, linkAddresses };
  await reserveAddresses(tx, key, { nextIndex: index + 1, reservedTo, now });
  return newLink;
};
