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

/** A link as it is written, and what its maker is answered. */
export type NewLinkWithResponse = NewLink & { response: StoredResponse["answer"] };

/** An order that nothing speaks against: it becomes a link once it is known where it is paid to. */
export type PreparedLink = {
  owner: PayableAccount;
  buildNewLink: (destinationAddress: string) => NewLinkWithResponse;
};

/** Whether the link needs an address of its own, taken in the transaction that writes it. */
export const needsOwnAddress = ({ owner }: PreparedLink): boolean =>
  isBitcoinChainId(owner.token.chain.id);

/** Writes a link, on Bitcoin with an address of its owner's key that no other link ever has (rule API-33). */
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
  assert.ok(address !== undefined, "a key of Bitcoin gave no address");
  const newLink = buildNewLink(address);
  await insertLink(tx, newLink);
  const { createdAt: now, id: linkId } = newLink.link;
  await insertAddress(tx, { keyId, index, address, linkId });
  const key = { chainId, descriptor: walletAddress, keyId };
  await reserveAddresses(tx, key, { nextIndex: index + 1, reservedTo, now });
  return newLink;
};
