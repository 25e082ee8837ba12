import { type EventHandler, toLatestPublished } from "@payment-links/bus";
import { getFamily } from "@payment-links/chains";
import {
  type Account,
  accountSnapshot,
  type accountUpdated,
  topics,
} from "@payment-links/contracts";
import type { Transaction } from "@payment-links/postgres";
import type { Dependencies } from "../dependencies.ts";
import { findAccountVersion, upsertAccount } from "../store/accounts.ts";
import { saveKey } from "../store/link-addresses.ts";
import { reserveAddresses } from "../store/reserve-addresses.ts";

/**
 * Stores an account's published state. It replaces the stored state if its version is higher. A
 * snapshot that was published much later also replaces it, because auth-keys may have been restored
 * from a backup (rule EVENT-7). Also reserves the first addresses of a new key before any link gets
 * one of them.
 */
export const saveAccount =
  (dependencies: Dependencies): EventHandler<typeof accountUpdated> =>
  async (tx, account, envelope) => {
    const storedVersion = await findAccountVersion(tx, account.id);
    const isSaved = await upsertAccount(tx, account, toLatestPublished(envelope, accountSnapshot));
    if (isSaved && storedVersion !== undefined && account.version > storedVersion + 1) {
      dependencies.counters.countVersionJump(topics.accounts);
    }
    if (isSaved) await reserveAddressesForNewKeys(tx, dependencies, account);
  };

const reserveAddressesForNewKeys = async (
  tx: Transaction,
  { catalogue, clock }: Dependencies,
  { wallets }: Account,
): Promise<void> => {
  const keys = wallets.flatMap(
    ({ firstAddressIndex: firstIndex = 0, tokenId, walletAddress: key }) => {
      const chain = catalogue.findToken(tokenId)?.chain;
      if (chain === undefined) return [];
      const { linkAddresses } = getFamily(chain.chainType);
      if (linkAddresses?.isKey(key) !== true) return [];
      const keyId = linkAddresses.computeKeyId(chain.id, key);
      return { chainId: chain.id, key, keyId, linkAddresses, firstIndex };
    },
  );
  // A fixed order prevents deadlocks between two transactions.
  for (const key of keys.toSorted((a, b) => (a.keyId < b.keyId ? -1 : 1))) {
    const addressRange = await saveKey(tx, key);
    if (addressRange !== undefined)
      await reserveAddresses(tx, key, { ...addressRange, now: clock.now() });
  }
};
