import { sql } from "slonik";
import * as z from "zod";
import { type Wallet, getWalletMode } from "@payment-links/contracts";
import { type Db, type Transaction, sqlVoid } from "@payment-links/postgres";

const AddressesRow = z.object({ id: z.string(), firstAddresses: z.array(z.string()) });

type StoredWallet = { accountId: string; chainId: string; wallet: Wallet };

/**
 * Inserts a wallet. If it becomes a default, clears the flag of the previous default. The account's
 * row must be locked.
 */
export const insertWallet = async (
  tx: Transaction,
  {
    accountId,
    chainId,
    wallet,
    firstAddresses,
    now,
  }: StoredWallet & { firstAddresses: string[] | null; now: Date },
): Promise<void> => {
  await clearOtherDefaults(tx, { accountId, chainId, wallet });
  await tx.query(sqlVoid`
    INSERT INTO wallets (
      id, account_id, wallet_address, token_id, chain_id, chain_type, is_default, is_chain_default,
      provider, date_created, first_addresses, first_address_index, mode
    ) VALUES (
      ${wallet.id}, ${accountId}, ${wallet.walletAddress}, ${wallet.tokenId}, ${chainId},
      ${wallet.chainType}, ${wallet.isDefault}, ${wallet.isChainDefault}, ${wallet.provider},
      ${sql.timestamp(now)},
      ${firstAddresses === null ? null : sql.array(firstAddresses, "text")},
      ${wallet.firstAddressIndex ?? null}, ${getWalletMode(wallet)}
    )
  `);
};

/**
 * Returns the first addresses of an account's Bitcoin wallets, by wallet id. They are stored,
 * because deriving them takes 13 ms per key.
 */
export const findFirstAddresses = async (
  db: Db,
  accountId: string,
): Promise<ReadonlyMap<string, string[]>> => {
  const rows = await db.any(sql.type(AddressesRow)`
    SELECT id, first_addresses AS "firstAddresses" FROM wallets
    WHERE account_id = ${accountId} AND first_addresses IS NOT NULL
  `);
  return new Map(rows.map(({ id, firstAddresses }) => [id, firstAddresses]));
};

/**
 * Updates a wallet's default flags. If it becomes a default, clears the flag of the previous
 * default. The account's row must be locked.
 */
export const updateDefaults = async (
  tx: Transaction,
  { accountId, chainId, wallet }: StoredWallet,
): Promise<void> => {
  await clearOtherDefaults(tx, { accountId, chainId, wallet });
  await tx.query(sqlVoid`
    UPDATE wallets SET is_default = ${wallet.isDefault}, is_chain_default = ${wallet.isChainDefault}
    WHERE id = ${wallet.id} AND account_id = ${accountId}
  `);
};

/** Deletes a wallet. The account's row must be locked. */
export const deleteWallet = async (
  tx: Transaction,
  { accountId, walletId }: { accountId: string; walletId: string },
): Promise<void> => {
  await tx.query(sqlVoid`DELETE FROM wallets WHERE id = ${walletId} AND account_id = ${accountId}`);
};

/**
 * Clears the default flags of other wallets: the default of the same mode and that of the chain.
 * Must run first, because the unique indexes allow only one default each.
 */
const clearOtherDefaults = async (
  tx: Transaction,
  { accountId, chainId, wallet }: StoredWallet,
): Promise<void> => {
  if (wallet.isDefault) {
    const mode = getWalletMode(wallet);
    // Only the live default has a delay, which depends on this.
    if (mode === "live") {
      await tx.query(sqlVoid`
        UPDATE accounts SET has_had_default = true WHERE id = ${accountId} AND NOT has_had_default
      `);
    }
    await tx.query(sqlVoid`
      UPDATE wallets SET is_default = false
      WHERE account_id = ${accountId} AND mode = ${mode} AND is_default AND id <> ${wallet.id}
    `);
  }
  if (wallet.isChainDefault) {
    await tx.query(sqlVoid`
      UPDATE wallets SET is_chain_default = false
      WHERE account_id = ${accountId} AND chain_id = ${chainId} AND is_chain_default
        AND id <> ${wallet.id}
    `);
  }
};
