import { describe, expect, test } from "@jest/globals";
import {
  type CatalogueToken,
  Decimal,
  loadCatalogue,
  pickLinkTexts,
} from "@payment-links/contracts";
import { sampleAccount, sampleSettlement, shopAddress, testStartTime } from "../testing/samples.ts";
import { type Link, buildLink, requirePayableAccount } from "./link.ts";
import { creditPayment, findUnappliedReason, toLinkTransaction, buildPayment } from "./payment.ts";

const catalogue = loadCatalogue();
const owner = requirePayableAccount(sampleAccount(), catalogue, "live");
const afterStart = (ms: number) => new Date(testStartTime.getTime() + ms);

const createLink = (overrides: Partial<Link> = {}): Link => ({
  ...buildLink(
    { toAmount: new Decimal("25"), ...pickLinkTexts({}), maxUsage: null, expirationDate: null },
    owner,
    {
      id: "plink_1",
      paymentReference: "ab".repeat(16),
      now: testStartTime,
    },
  ),
  destinationAddress: owner.wallet.walletAddress,
  ...overrides,
});

const findReason = (link: Link, overrides: Parameters<typeof sampleSettlement>[1] = {}) =>
  findUnappliedReason(link, owner.token, sampleSettlement(link.id, overrides));

const otherToken = "0x0000000000000000000000000000000000000001";
const wrongFields = {
  tokenAddress: otherToken,
  destinationAddress: otherToken,
  amount: "0.0000001",
  occurredAt: afterStart(1000),
};

describe("findUnappliedReason", () => {
  test("applies a payment with the link's token, chain and destination, ignoring case in EVM addresses", () => {
    const link = createLink();
    expect(findReason(link)).toBeUndefined();
    expect(findReason(link, { destinationAddress: shopAddress.toLowerCase() })).toBeUndefined();
    const tokenAddress = owner.token.address.toUpperCase().replace("0X", "0x");
    expect(findReason(link, { tokenAddress })).toBeUndefined();
  });

  test("treats addresses as case-sensitive on chains where case matters", () => {
    const solana: CatalogueToken = {
      ...owner.token,
      address: "So1111",
      chain: { ...owner.token.chain, id: "solana", chainType: "SVM" },
    };
    const link = createLink({
      chainId: "solana",
      tokenAddress: "So1111",
      destinationAddress: "Abc",
    });
    const findSolanaReason = (tokenAddress: string, destinationAddress: string) =>
      findUnappliedReason(
        link,
        solana,
        sampleSettlement(link.id, { chainId: "solana", tokenAddress, destinationAddress }),
      );
    expect(findSolanaReason("So1111", "Abc")).toBeUndefined();
    expect(findSolanaReason("so1111", "Abc")).toBe("wrong_token");
    expect(findSolanaReason("So1111", "abc")).toBe("wrong_destination");
  });

  test("returns wrong_token for the right token on another chain", () => {
    expect(findReason(createLink(), { chainId: "1" })).toBe("wrong_token");
  });

  test.each([
    ["0.000001", undefined],
    ["0.0000001", "wrong_amount"],
  ])("for %s of a token with 6 decimals, returns %s (rule NOTICE-6)", (amount, reason) => {
    expect(findReason(createLink(), { amount })).toBe(reason);
  });

  test("applies a payment started before the expiry, but not one started at the expiry", () => {
    const link = createLink({ expiresAt: afterStart(1000), status: "inactive" });
    expect(findReason(link, { occurredAt: afterStart(999) })).toBeUndefined();
    expect(findReason(link, { occurredAt: afterStart(1000) })).toBe("expired");
  });

  test("returns inactive for a payment started before the link was deactivated (rule STATE-8)", () => {
    const link = createLink({ status: "inactive", deactivatedAt: afterStart(1000) });
    expect(findReason(link, { occurredAt: afterStart(1) })).toBe("inactive");
  });

  test("returns the first reason in the specified order when several apply (rule STATE-7)", () => {
    const wrongOverrides = { ...wrongFields };
    const link = createLink({
      status: "completed",
      expiresAt: afterStart(1),
      deactivatedAt: afterStart(1),
    });
    expect(findReason(link, wrongOverrides)).toBe("wrong_token");
    const { tokenAddress: _token, ...withRightToken } = wrongOverrides;
    expect(findReason(link, withRightToken)).toBe("wrong_destination");
    const { destinationAddress: _destination, ...withRightDestination } = withRightToken;
    expect(findReason(link, withRightDestination)).toBe("wrong_amount");
    const { amount: _amount, ...lateOverrides } = withRightDestination;
    expect(findReason(link, lateOverrides)).toBe("completed");
    expect(findReason({ ...link, status: "inactive" }, lateOverrides)).toBe("expired");
    expect(findReason({ ...link, status: "inactive", expiresAt: null }, lateOverrides)).toBe(
      "inactive",
    );
  });
});

describe("creditPayment", () => {
  const creditAmount = (link: Link, amount: string) =>
    creditPayment(link, { id: "tx_1", amount: new Decimal(amount) });

  test.each([
    ["24.999999", null, false],
    ["25", null, true],
    ["25.000001", null, true],
    ["0.000001", 2, false],
    ["0.000001", 1, true],
  ])(
    "given %s of 25 and maxUsage %s, isCompleted is %s (rule STATE-2)",
    (amount, maxUsage, isCompleted) => {
      const result = creditAmount(createLink({ maxUsage }), amount);
      expect(result.isCompleted).toBe(isCompleted);
      expect(result.link).toMatchObject({
        status: isCompleted ? "completed" : "active",
        version: isCompleted ? 3 : 2,
        currentUsage: 1,
        lastTransactionId: "tx_1",
      });
      expect(result.link.receivedAmount.toFixed()).toBe(amount);
    },
  );

  test("adds exactly regardless of the number of digits", () => {
    const link = createLink({
      receivedAmount: new Decimal("12345678901234567890123456789012345678901234567890.000001"),
      toAmount: new Decimal("9".repeat(70)),
    });
    expect(creditAmount(link, "0.000009").link.receivedAmount.toFixed()).toBe(
      "12345678901234567890123456789012345678901234567890.00001",
    );
  });

  test("leaves an expired link inactive unless the payment completes it", () => {
    const link = createLink({ status: "inactive", expiresAt: testStartTime });
    expect(creditAmount(link, "1").link.status).toBe("inactive");
    expect(creditAmount(link, "25").link.status).toBe("completed");
  });
});

describe("buildPayment", () => {
  const overrides = {
    occurredAt: afterStart(-9),
    firstSeenAt: afterStart(-5),
    sourceTransaction: "0xab",
  };
  const settlement = sampleSettlement("plink_1", {
    ...overrides,
    blockNumber: 7,
    isOrphaned: true,
  });
  const now = afterStart(1);
  const { isOrphaned: _flag, paymentLinkId: _link, ...paymentFields } = settlement;

  test.each([
    ["processing", undefined, null],
    ["failed", undefined, now],
    ["settled", { reason: undefined }, now],
    ["settled", { reason: "expired" as const }, now],
  ] as const)("stores the settlement and its evaluation: %s, %j", (status, verdict, endedAt) => {
    const isApplied = verdict !== undefined && verdict.reason === undefined;
    expect(
      buildPayment(
        { ...settlement, status },
        { storedPayment: undefined, verdict, publishedAt: now, now },
      ),
    ).toEqual({
      ...paymentFields,
      linkId: "plink_1",
      status,
      isApplied,
      reason: verdict?.reason ?? null,
      duplicateOf: null,
      appliedAt: isApplied ? now : null,
      payer: null,
      unappliedAt: verdict?.reason === undefined ? null : now,
      endedAt,
      isOrphaned: true,
      orphanedAt: now,
      returnedAt: null,
      orphanChangePublishedAt: now,
    });
  });

  test("sets no orphaned flag and no block if the settlement has none", () => {
    const { blockNumber: _block, ...fieldsWithoutBlock } = paymentFields;
    const payment = buildPayment(
      { ...fieldsWithoutBlock, paymentLinkId: "plink_1" },
      { storedPayment: undefined, verdict: undefined, publishedAt: now, now },
    );
    expect(payment).toMatchObject({ isOrphaned: false, orphanedAt: null, blockNumber: null });
  });

  test("keeps the first-seen time, which toLinkTransaction returns as dateCreated", () => {
    expect(
      toLinkTransaction(
        buildPayment(settlement, {
          storedPayment: undefined,
          verdict: { reason: undefined },
          publishedAt: now,
          now,
        }),
      ),
    ).toEqual({
      id: settlement.id,
      status: "settled",
      amount: settlement.amount,
      tokenAddress: settlement.tokenAddress,
      chainId: "8453",
      sourceTransaction: "0xab",
      dateCreated: afterStart(-5),
    });
  });
});
