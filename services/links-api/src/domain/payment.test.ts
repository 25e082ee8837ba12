import { describe, expect, test } from "@jest/globals";
import { type CatalogueToken, Decimal, openCatalogue, linkTexts } from "@payment-links/contracts";
import { sampleAccount, sampleSettlement, shopAddress, start } from "../testing/samples.ts";
import { type Link, openLink, readyAccount } from "./link.ts";
import { creditPayment, judgePayment, linkTransaction, openPayment } from "./payment.ts";

const catalogue = openCatalogue();
const owner = readyAccount(sampleAccount(), catalogue);
const later = (ms: number) => new Date(start.getTime() + ms);

const linkOf = (more: Partial<Link> = {}): Link => ({
  ...openLink(
    { toAmount: new Decimal("25"), ...linkTexts({}), maxUsage: null, expirationDate: null },
    owner,
    {
      id: "plink_1",
      paymentReference: "ab".repeat(16),
      now: start,
    },
  ),
  destinationAddress: owner.wallet.walletAddress,
  ...more,
});

const judge = (link: Link, more: Parameters<typeof sampleSettlement>[1] = {}) =>
  judgePayment(link, owner.token, sampleSettlement(link.id, more));

const otherToken = "0x0000000000000000000000000000000000000001";
const wrong = {
  tokenAddress: otherToken,
  destinationAddress: otherToken,
  amount: "0.0000001",
  occurredAt: later(1000),
};

describe("judging a settled payment", () => {
  test("given the link's own token, chain and destination, whatever the case of EVM addresses, counts", () => {
    const link = linkOf();
    expect(judge(link)).toBeUndefined();
    expect(judge(link, { destinationAddress: shopAddress.toLowerCase() })).toBeUndefined();
    const tokenAddress = owner.token.address.toUpperCase().replace("0X", "0x");
    expect(judge(link, { tokenAddress })).toBeUndefined();
  });

  test("given a chain that tells case apart, an address in another case is another address", () => {
    const solana: CatalogueToken = {
      ...owner.token,
      address: "So1111",
      chain: { ...owner.token.chain, id: "solana", chainType: "SVM" },
    };
    const link = linkOf({ chainId: "solana", tokenAddress: "So1111", destinationAddress: "Abc" });
    const judgeSolana = (tokenAddress: string, destinationAddress: string) =>
      judgePayment(
        link,
        solana,
        sampleSettlement(link.id, { chainId: "solana", tokenAddress, destinationAddress }),
      );
    expect(judgeSolana("So1111", "Abc")).toBeUndefined();
    expect(judgeSolana("so1111", "Abc")).toBe("wrong_token");
    expect(judgeSolana("So1111", "abc")).toBe("wrong_destination");
  });

  test("given the right token on another chain, it is the wrong token", () => {
    expect(judge(linkOf(), { chainId: "1" })).toBe("wrong_token");
  });

  test.each([
    ["0.000001", undefined],
    ["0.0000001", "wrong_amount"],
  ])("given %s of a token with 6 decimals, answers %s (rule NOTICE-6)", (amount, reason) => {
    expect(judge(linkOf(), { amount })).toBe(reason);
  });

  test("given an expiry, a payment counts that was started before it, not at it", () => {
    const link = linkOf({ expiresAt: later(1000), status: "inactive" });
    expect(judge(link, { occurredAt: later(999) })).toBeUndefined();
    expect(judge(link, { occurredAt: later(1000) })).toBe("expired");
  });

  test("given a deactivated link, a payment started before the deactivation does not count (rule STATE-8)", () => {
    const link = linkOf({ status: "inactive", deactivatedAt: later(1000) });
    expect(judge(link, { occurredAt: later(1) })).toBe("inactive");
  });

  test("given several reasons, tells the first in their order (rule STATE-7)", () => {
    const all = { ...wrong };
    const link = linkOf({ status: "completed", expiresAt: later(1), deactivatedAt: later(1) });
    expect(judge(link, all)).toBe("wrong_token");
    const { tokenAddress: _token, ...noToken } = all;
    expect(judge(link, noToken)).toBe("wrong_destination");
    const { destinationAddress: _destination, ...noDestination } = noToken;
    expect(judge(link, noDestination)).toBe("wrong_amount");
    const { amount: _amount, ...late } = noDestination;
    expect(judge(link, late)).toBe("completed");
    expect(judge({ ...link, status: "inactive" }, late)).toBe("expired");
    expect(judge({ ...link, status: "inactive", expiresAt: null }, late)).toBe("inactive");
  });
});

describe("crediting a payment", () => {
  const credit = (link: Link, amount: string) =>
    creditPayment(link, { id: "tx_1", amount: new Decimal(amount) });

  test.each([
    ["24.999999", null, false],
    ["25", null, true],
    ["25.000001", null, true],
    ["0.000001", 2, false],
    ["0.000001", 1, true],
  ])(
    "given %s of 25 and maxUsage %s, completes: %s (rule STATE-2)",
    (amount, maxUsage, isCompleted) => {
      const credited = credit(linkOf({ maxUsage }), amount);
      expect(credited.isCompleted).toBe(isCompleted);
      expect(credited.link).toMatchObject({
        status: isCompleted ? "completed" : "active",
        version: isCompleted ? 3 : 2,
        currentUsage: 1,
        lastTransactionId: "tx_1",
      });
      expect(credited.link.receivedAmount.toFixed()).toBe(amount);
    },
  );

  test("adds exactly, however many digits there are", () => {
    const link = linkOf({
      receivedAmount: new Decimal("12345678901234567890123456789012345678901234567890.000001"),
      toAmount: new Decimal("9".repeat(70)),
    });
    expect(credit(link, "0.000009").link.receivedAmount.toFixed()).toBe(
      "12345678901234567890123456789012345678901234567890.00001",
    );
  });

  test("given an expired link that is not completed by it, leaves it inactive", () => {
    const link = linkOf({ status: "inactive", expiresAt: start });
    expect(credit(link, "1").link.status).toBe("inactive");
    expect(credit(link, "25").link.status).toBe("completed");
  });
});

describe("what is kept of a settlement", () => {
  const more = { occurredAt: later(-9), firstSeenAt: later(-5), sourceTransaction: "0xab" };
  const settlement = sampleSettlement("plink_1", { ...more, blockNumber: 7, isOrphaned: true });
  const now = later(1);
  const { isOrphaned: _flag, paymentLinkId: _link, ...told } = settlement;

  test.each([
    ["processing", undefined, null],
    ["failed", undefined, now],
    ["settled", { reason: undefined }, now],
    ["settled", { reason: "expired" as const }, now],
  ] as const)("is all of it and what became of it: %s, %j", (status, verdict, endedAt) => {
    const isApplied = verdict !== undefined && verdict.reason === undefined;
    expect(openPayment({ ...settlement, status }, { known: undefined, verdict, now })).toEqual({
      ...told,
      linkId: "plink_1",
      status,
      isApplied,
      reason: verdict?.reason ?? null,
      duplicateOf: null,
      appliedAt: isApplied ? now : null,
      endedAt,
      isOrphaned: true,
      orphanedAt: now,
      returnedAt: null,
    });
  });

  test("is no flag and no block where nothing is said of them", () => {
    const { blockNumber: _block, ...rest } = told;
    const payment = openPayment(
      { ...rest, paymentLinkId: "plink_1" },
      { known: undefined, verdict: undefined, now },
    );
    expect(payment).toMatchObject({ isOrphaned: false, orphanedAt: null, blockNumber: null });
  });

  test("is told in a link's event with the time at which it was first seen", () => {
    expect(
      linkTransaction(
        openPayment(settlement, { known: undefined, verdict: { reason: undefined }, now }),
      ),
    ).toEqual({
      id: settlement.id,
      status: "settled",
      amount: settlement.amount,
      tokenAddress: settlement.tokenAddress,
      chainId: "8453",
      sourceTransaction: "0xab",
      dateCreated: later(-5),
    });
  });
});
