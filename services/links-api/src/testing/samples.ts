import { type Account, type SettlementState, Decimal, newId } from "@payment-links/contracts";
import { type Db, nothing } from "@payment-links/postgres";

/** The instant at which the clock of every test stands at first. */
export const start = new Date("2026-11-21T10:00:00.000Z");

/** USDC on Base, as the catalogue has it: 6 decimals. */
export const usdcOnBase = {
  tokenId: "usdc-base",
  chainId: "8453",
  tokenAddress: "0x833589fCD6eDb6E08f4c7C32D4f71b54bdA02913",
};

export const shopAddress = "0x52908400098527886E0F7030069857D2E4169EE7";

let handles = 0;

/** An account that is ready to be paid in USDC on Base, unless told otherwise. */
export const sampleAccount = (more: Partial<Account> = {}): Account => {
  handles += 1;
  return {
    id: newId("user"),
    version: 1,
    handle: `shop${handles}`,
    username: "Alice's Shop",
    dateCreated: new Date("2026-01-02T03:04:05.000Z"),
    profileImage: null,
    bio: null,
    backgroundImage: null,
    backgroundColour: null,
    links: null,
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
    ...more,
  };
};

/** A settled payment of 10 USDC on a link, started and seen at the start of the test. */
export const sampleSettlement = (
  paymentLinkId: string,
  { amount = "10", ...more }: Partial<Omit<SettlementState, "amount">> & { amount?: string } = {},
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
    occurredAt: start,
    firstSeenAt: start,
    ...more,
  };
};

/** Writes a link again and again, each a millisecond after the one before. */
export const copyLink = (
  db: Db,
  linkId: string,
  { count, description }: { count: number; description: string | null },
) =>
  db.query(nothing`
    INSERT INTO links (
      id, user_id, version, status, to_amount, description, created_at, expires_at, wallet_id,
      destination_address, token_id, chain_id, token_address, payment_reference
    )
    SELECT left(id, 22) || lpad(number::text, 10, '0'), user_id, 1, status, to_amount, ${description},
      created_at + number * interval '1 ms', expires_at, wallet_id, destination_address, token_id,
      chain_id, token_address, md5(id || number)
    FROM links, generate_series(1, ${count}::int) AS number WHERE id = ${linkId}
  `);
