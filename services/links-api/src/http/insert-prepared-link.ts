import assert from "node:assert/strict";
import {
  deriveBitcoinAddresses,
  computeBitcoinKeyId,
  isBitcoinChainId,
} from "@payment-links/contracts";
import type { Transaction } from "@payment-links/postgres";
import type { PayableAccount } from "../domain/link.ts";
import { insertAddress, allocateAddressIndex } from "../store/bitcoin-addresses.ts";
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
  isBitcoinChainId(owner.token.chain.id);

/**
 * Inserts a link. On Bitcoin, allocates an address of the owner's key that no other link has had or
 * will get (rule API-33).
 */
export const insertPreparedLink = async (
  tx: Transaction,
  { owner, buildNewLink }: PreparedLink,
): Promise<NewLinkWithResponse> => {
  const { firstAddressIndex: firstIndex = 0, walletAddress } = owner.wallet;
  const chainId = owner.token.chain.id;
  if (!isBitcoinChainId(chainId)) {
    const newLink = buildNewLink(walletAddress);
    await insertLink(tx, newLink);
    return newLink;
  }
  const keyId = computeBitcoinKeyId(chainId, walletAddress);
  const { index, reservedTo } = await allocateAddressIndex(tx, { keyId, firstIndex });
  const [address] = deriveBitcoinAddresses(chainId, walletAddress, { startIndex: index, count: 1 });
  assert.ok(address !== undefined, "no address was derived from the Bitcoin key");
  const newLink = buildNewLink(address);
  await insertLink(tx, newLink);
  const { createdAt: now, id: linkId } = newLink.link;
  await insertAddress(tx, { keyId, index, address, linkId });
  const key = { chainId, descriptor: walletAddress, keyId };
  await reserveAddresses(tx, key, { nextIndex: index + 1, reservedTo, now });
  return newLink;
};
