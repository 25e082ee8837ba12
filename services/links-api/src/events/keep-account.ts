import { type EventHandler, toldBy } from "@payment-links/bus";
import {
  type Account,
  accountSnapshot,
  type accountUpdated,
  bitcoinKeyId,
  isBitcoinChainId,
  isBitcoinDescriptor,
  topics,
} from "@payment-links/contracts";
import type { Transaction } from "@payment-links/postgres";
import type { Deps } from "../deps.ts";
import { findAccountVersion, upsertAccount } from "../store/accounts.ts";
import { saveKey } from "../store/bitcoin-addresses.ts";
import { reserveAddresses } from "../store/reserve-addresses.ts";

/**
 * Keeps what an account says of itself. A higher version replaces what is known, and so does a snapshot
 * told long after, as auth-keys may have been restored (rule EVENT-7). The first addresses of a new key of
 * Bitcoin are reserved, before a link has them.
 */
export const keepAccount =
  (deps: Deps): EventHandler<typeof accountUpdated> =>
  async (tx, account, envelope) => {
    const version = await findAccountVersion(tx, account.id);
    const isKept = await upsertAccount(tx, account, toldBy(envelope, accountSnapshot));
    if (isKept && version !== undefined && account.version > version + 1) {
      deps.counters.skipped(topics.accounts);
    }
    if (isKept) await reserveForNewKeys(tx, deps, account);
  };

const reserveForNewKeys = async (
  tx: Transaction,
  { catalogue, clock }: Deps,
  { wallets }: Account,
): Promise<void> => {
  const keys = wallets.flatMap(
    ({ firstAddressIndex: firstIndex = 0, tokenId, walletAddress: descriptor }) => {
      const chainId = catalogue.findToken(tokenId)?.chain.id;
      if (chainId === undefined || !isBitcoinChainId(chainId)) return [];
      if (!isBitcoinDescriptor(descriptor)) return [];
      return { chainId, descriptor, firstIndex, keyId: bitcoinKeyId(chainId, descriptor) };
    },
  );
  // In one order, so that two transactions never wait for each other.
  for (const key of keys.toSorted((one, other) => (one.keyId < other.keyId ? -1 : 1))) {
    const next = await saveKey(tx, key);
    if (next !== undefined) await reserveAddresses(tx, key, { ...next, now: clock.now() });
  }
};
