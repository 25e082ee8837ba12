import { type FragmentSqlToken, sql } from "slonik";
import { getChainSource } from "@payment-links/chains";
import {
  type Account,
  type SettlementState,
  Decimal,
  createDeterministicId,
  newId,
} from "@payment-links/contracts";
import { createSampleAccount as sampleBareAccount } from "@payment-links/contracts/testing/sample-account";
import { type Db, sqlVoid } from "@payment-links/postgres";

/** The time at which every test's clock starts. */
export const testStartTime = new Date("2026-11-21T10:00:00.000Z");

/** USDC on Base as in the catalogue, with 6 decimals. */
export const usdcOnBase = {
  tokenId: "usdc-base",
  chainId: "8453",
  tokenAddress: "0x833589fCD6eDb6E08f4c7C32D4f71b54bdA02913",
};

export const shopAddress = "0x52908400098527886E0F7030069857D2E4169EE7";

let handleCount = 0;

/** Creates an account that can be paid in USDC on Base by default. */
export const sampleAccount = (overrides: Partial<Account> = {}): Account => {
  handleCount += 1;
  return sampleBareAccount({
    handle: `shop${handleCount}`,
    username: "Alice's Shop",
    wallets: [
      {
        id: newId("wallet"),
        walletAddress: shopAddress,
        tokenId: usdcOnBase.tokenId,
        chainType: "EVM",
        isDefault: true,
        isChainDefault: true,
        provider: null,
      },
    ],
    ...overrides,
  });
};

/**
 * Creates a settled payment of 10 USDC on a link. It was made and first seen when the test started.
 */
export const sampleSettlement = (
  paymentLinkId: string,
  {
    amount = "10",
    ...overrides
  }: Partial<Omit<SettlementState, "amount">> & { amount?: string } = {},
): SettlementState => {
  const id = newId("tx");
  return {
    id,
    version: 1,
    source: "provider:acme",
    sourceId: id,
    paymentLinkId,
    status: "settled",
    amount: new Decimal(amount),
    tokenAddress: usdcOnBase.tokenAddress,
    chainId: usdcOnBase.chainId,
    destinationAddress: shopAddress,
    sourceTransaction: null,
    occurredAt: testStartTime,
    firstSeenAt: testStartTime,
    ...overrides,
  };
};

/**
 * Returns the `source` and `sourceId` that settlement-listener gives a payment on a chain (rule
 * CHAIN-3).
 */
export const samplePaymentIdentity = (payment: {
  chainId: string;
  transactionHash: string;
  linkId: string;
  number?: number;
}) => {
  const { chainId, linkId, number = 0, transactionHash } = payment;
  const source = getChainSource(chainId);
  const sourceId = `${transactionHash}:${linkId}:${number}`;
  const id = createDeterministicId("tx", [source, sourceId, linkId]);
  return { id, source, sourceId, sourceTransaction: transactionHash };
};

/**
 * Inserts copies of a link, each created one millisecond after the previous one. The options
 * override columns with SQL expressions. These can use the link's columns and `number`, which is
 * the number of the copy and starts at 1.
 */
export const insertLinkCopies = async (
  db: Db,
  linkId: string,
  {
    count,
    description = null,
    id = sql.fragment`left(id, 22) || lpad(number::text, 10, '0')`,
    status = sql.fragment`status`,
    createdAt = sql.fragment`created_at + number * interval '1 ms'`,
    expiresAt = sql.fragment`expires_at`,
  }: { count: number; description?: string | null } & Partial<
    Record<"id" | "status" | "createdAt" | "expiresAt", FragmentSqlToken>
  >,
): Promise<void> => {
  await db.query(sqlVoid`
    INSERT INTO links (
      id, user_id, version, status, to_amount, description, created_at, expires_at, wallet_id,
      destination_address, token_id, chain_id, token_address, payment_reference
    )
    SELECT ${id}, user_id, 1, ${status}, to_amount, ${description}, ${createdAt}, ${expiresAt},
      wallet_id, destination_address, token_id, chain_id, token_address, md5(id || number)
    FROM links, generate_series(1, ${count}::int) AS number WHERE id = ${linkId}
  `);
};

/**
 * Inserts payments that were not applied. Payment n is first seen n ms after `testStartTime` and
 * settles n ms after that. Every second payment is orphaned.
 */
export const insertUnappliedPayments = async (
  db: Db,
  linkId: string,
  count: number,
): Promise<void> => {
  await db.query(sqlVoid`
    INSERT INTO payments (
      id, link_id, version, source, source_id, status, is_applied, reason, amount, token_address,
      chain_id, destination_address, occurred_at, first_seen_at, ended_at, is_orphaned
    )
    SELECT 'tx_' || number, ${linkId}, 1, ${linkId}, number, 'settled', false, 'completed', 1, '0x',
      '1', '0x', now(), ${testStartTime.toISOString()}::timestamptz + number * interval '1 ms',
      ${testStartTime.toISOString()}::timestamptz + number * interval '2 ms', number % 2 = 0
    FROM generate_series(1, ${count}::int) AS number
  `);
};
