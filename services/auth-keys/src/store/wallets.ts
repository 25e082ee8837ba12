import { sql } from "slonik";
import type { Wallet } from "@payment-links/contracts";
import { type Transaction, nothing } from "@payment-links/postgres";

type Placed = { accountId: string; chainId: string; wallet: Wallet };

/**
 * Stores a wallet of an account, whose row is locked. It takes over the defaults that it becomes.
 */
export const insertWallet = async (
  tx: Transaction,
  { accountId, chainId, wallet, now }: Placed & { now: Date },
): Promise<void> => {
  await yieldDefaults(tx, { accountId, chainId, wallet });
  await tx.query(nothing`
    INSERT INTO wallets (
      id, account_id, wallet_address, token_id, chain_id, chain_type, is_default, is_chain_default,
      provider, date_created
    ) VALUES (
      ${wallet.id}, ${accountId}, ${wallet.walletAddress}, ${wallet.tokenId}, ${chainId},
      ${wallet.chainType}, ${wallet.isDefault}, ${wallet.isChainDefault}, ${wallet.provider},
      ${sql.timestamp(now)}
    )
  `);
};

/**
 * Writes which defaults a wallet is, and takes them from the wallets that had them. The account is
 * locked.
 */
export const updateDefaults = async (
  tx: Transaction,
  { accountId, chainId, wallet }: Placed,
): Promise<void> => {
  await yieldDefaults(tx, { accountId, chainId, wallet });
  await tx.query(nothing`
    UPDATE wallets SET is_default = ${wallet.isDefault}, is_chain_default = ${wallet.isChainDefault}
    WHERE id = ${wallet.id} AND account_id = ${accountId}
  `);
};

/** Removes a wallet of an account, whose row is locked. */
export const deleteWallet = async (
  tx: Transaction,
  { accountId, walletId }: { accountId: string; walletId: string },
): Promise<void> => {
  await tx.query(nothing`DELETE FROM wallets WHERE id = ${walletId} AND account_id = ${accountId}`);
};

/** The others give up first what this wallet takes: the unique indexes never allow two. */
const yieldDefaults = async (
  tx: Transaction,
  { accountId, chainId, wallet }: Placed,
): Promise<void> => {
  if (wallet.isDefault) {
    await tx.query(nothing`
      UPDATE accounts SET has_had_default = true WHERE id = ${accountId} AND NOT has_had_default
    `);
    await tx.query(nothing`
      UPDATE wallets SET is_default = false
      WHERE account_id = ${accountId} AND is_default AND id <> ${wallet.id}
    `);
  }
  if (wallet.isChainDefault) {
    await tx.query(nothing`
      UPDATE wallets SET is_chain_default = false
      WHERE account_id = ${accountId} AND chain_id = ${chainId} AND is_chain_default
        AND id <> ${wallet.id}
    `);
  }
};
