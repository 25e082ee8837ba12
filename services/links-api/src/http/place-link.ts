import assert from "node:assert/strict";
import { bitcoinAddresses, bitcoinKeyId, isBitcoinChainId } from "@payment-links/contracts";
import type { Transaction } from "@payment-links/postgres";
import type { ReadyAccount } from "../domain/link.ts";
import { insertAddress, takeAddressPlace } from "../store/bitcoin-addresses.ts";
import type { KeptAnswer } from "../store/idempotency-keys.ts";
import { type NewLink, insertLink } from "../store/links.ts";
import { reserveAddresses } from "../store/reserve-addresses.ts";

/** A link as it is written, and what its maker is answered. */
export type OpenedLink = NewLink & { answer: KeptAnswer["answer"] };

/** An order that nothing speaks against: it becomes a link once it is known where it is paid to. */
export type PreparedLink = {
  owner: ReadyAccount;
  open: (destinationAddress: string) => OpenedLink;
};

/** Whether the link needs an address of its own, taken in the transaction that writes it. */
export const needsOwnAddress = ({ owner }: PreparedLink): boolean =>
  isBitcoinChainId(owner.token.chain.id);

/** Writes a link, on Bitcoin with an address of its owner's key that no other link ever has (rule API-33). */
export const placeLink = async (
  tx: Transaction,
  { owner, open }: PreparedLink,
): Promise<OpenedLink> => {
  const { firstAddressIndex: firstIndex = 0, walletAddress } = owner.wallet;
  const chainId = owner.token.chain.id;
  if (!isBitcoinChainId(chainId)) {
    const opened = open(walletAddress);
    await insertLink(tx, opened);
    return opened;
  }
  const keyId = bitcoinKeyId(chainId, walletAddress);
  const { index, reservedTo } = await takeAddressPlace(tx, { keyId, firstIndex });
  const [address] = bitcoinAddresses(chainId, walletAddress, { from: index, count: 1 });
  assert.ok(address !== undefined, "a key of Bitcoin gave no address");
  const opened = open(address);
  await insertLink(tx, opened);
  const { createdAt: now, id: linkId } = opened.link;
  await insertAddress(tx, { keyId, index, address, linkId });
  const key = { chainId, descriptor: walletAddress, keyId };
  await reserveAddresses(tx, key, { nextIndex: index + 1, reservedTo, now });
  return opened;
};
