import { describe, expect, test } from "@jest/globals";
import { Decimal, ApiError, pickLinkTexts, loadCatalogue } from "@payment-links/contracts";
import { sampleAccount, testStartTime } from "../testing/samples.ts";
import {
  type Deposit,
  type LikelyLink,
  assignDeposit,
  applyDepositState,
  rankLinks,
  createDepositSettlement,
} from "./deposit.ts";
import { type Link, buildLink, requirePayableAccount } from "./link.ts";

const owner = requirePayableAccount(sampleAccount(), loadCatalogue(), "live");
const afterStart = (ms: number) => new Date(testStartTime.getTime() + ms);

const link: Link = {
  ...buildLink(
    {
      toAmount: new Decimal("10"),
      ...pickLinkTexts({}),
      maxUsage: null,
      expirationDate: afterStart(1000),
    },
    owner,
    { id: "plink_1", paymentReference: "ab".repeat(16), now: testStartTime },
  ),
  destinationAddress: owner.wallet.walletAddress,
};

const createDeposit = (overrides: Partial<Deposit> = {}): Deposit => ({
  id: "dep_1",
  version: 2,
  status: "settled",
  amount: new Decimal("10"),
  tokenAddress: link.tokenAddress.toLowerCase(),
  chainId: link.chainId,
  destinationAddress: link.destinationAddress.toLowerCase(),
  payer: "0xPayer",
  sourceTransaction: "0xab",
  occurredAt: afterStart(1),
  firstSeenAt: afterStart(2),
  returnedAt: null,
  orphanChangePublishedAt: null,
  userId: "user_1",
  mode: "live",
  decision: "unmatched",
  decidedAt: null,
  linkId: null,
  paymentId: null,
  ...overrides,
});

describe("applyDepositState", () => {
  const receivedAt = (ms: number) => ({ now: afterStart(ms), publishedAt: afterStart(ms) });

  test("accepts a higher version, or a later status under any version, and keeps the highest version", () => {
    const storedDeposit = createDeposit({ status: "seen" });
    const apply = (deposit: Deposit, overrides: Partial<Deposit>) =>
      applyDepositState(deposit, createDeposit(overrides), receivedAt(9));
    expect(apply(storedDeposit, { status: "seen", version: 2 })).toBe(storedDeposit);
    expect(apply(storedDeposit, { status: "seen", version: 1 })).toBe(storedDeposit);
    const settled = apply(storedDeposit, { version: 1 });
    expect(settled).toMatchObject({ status: "settled", version: 2, returnedAt: null });
    expect(apply(settled, { status: "seen" })).toBe(settled);
    expect(apply(settled, { version: 3 })).toMatchObject({ version: 3 });
  });

  test("accepts orphaned once under any version, and after a return only in a higher one", () => {
    const orphaned = applyDepositState(
      createDeposit(),
      createDeposit({ version: 1, status: "orphaned" }),
      receivedAt(9),
    );
    expect(orphaned).toMatchObject({ status: "orphaned", version: 2, returnedAt: null });
    const returned = applyDepositState(orphaned, createDeposit({ version: 3 }), receivedAt(9));
    expect(returned).toMatchObject({ status: "settled", version: 3, returnedAt: afterStart(9) });
    const orphanAgain = (version: number) =>
      applyDepositState(returned, createDeposit({ version, status: "orphaned" }), receivedAt(10));
    expect(orphanAgain(3)).toBe(returned);
    expect(orphanAgain(4)).toMatchObject({ status: "orphaned", version: 4, returnedAt: null });
    expect(
      applyDepositState(returned, createDeposit({ version: 4 }), receivedAt(10)).returnedAt,
    ).toEqual(afterStart(9));
  });

  test("accepts under any version what a restored listener publishes over a minute later (rule EVENT-7)", () => {
    const orphanedAtMs = 9;
    const orphaned = applyDepositState(
      createDeposit(),
      createDeposit({ version: 3, status: "orphaned" }),
      receivedAt(orphanedAtMs),
    );
    const minuteMs = 60_000;
    const applySettled = (ms: number) =>
      applyDepositState(orphaned, createDeposit({ version: 2 }), receivedAt(orphanedAtMs + ms));
    expect(applySettled(minuteMs)).toBe(orphaned);
    const returned = applySettled(minuteMs + 1);
    expect(returned).toMatchObject({ status: "settled", version: 3 });
    const applyOrphaned = (ms: number) =>
      applyDepositState(
        returned,
        createDeposit({ version: 3, status: "orphaned" }),
        receivedAt(orphanedAtMs + ms),
      );
    expect(applyOrphaned(2 * minuteMs)).toBe(returned);
    expect(applyOrphaned(3 * minuteMs)).toMatchObject({ status: "orphaned", returnedAt: null });
  });
});

test("createDepositSettlement derives its source id from deposit and account, and flags an orphaned deposit", () => {
  const payment = createDepositSettlement(createDeposit({ userId: "user_7" }), "plink_1");
  expect(payment).toMatchObject({ sourceId: "dep_1:user_7", status: "settled", isOrphaned: false });
  expect(createDepositSettlement(createDeposit({ status: "orphaned" }), "plink_1").isOrphaned).toBe(
    true,
  );
  expect(createDepositSettlement(createDeposit(), "plink_2").id).not.toBe(payment.id);
});

describe("assignDeposit", () => {
  const assignSample = (
    overrides: Partial<Deposit>,
    linkOverrides: Partial<Link> = {},
    now = afterStart(10),
  ) =>
    assignDeposit(createDeposit(overrides), {
      link: { ...link, ...linkOverrides },
      reports: [],
      getToken: () => owner.token,
      now,
    });

  const getErrorCode = (...args: Parameters<typeof assignSample>) => {
    try {
      assignSample(...args);
    } catch (error) {
      if (error instanceof ApiError) return error.entries[0]?.code;
      throw error;
    }
    return undefined;
  };

  test("credits the link, even if the deposit was dismissed before", () => {
    const { credit, payment } = assignSample({ decision: "dismissed" }).result;
    expect(payment).toMatchObject({ isApplied: true, source: "deposit", amount: new Decimal(10) });
    expect(credit).toMatchObject({ isCompleted: true, link: { status: "completed" } });
  });

  const otherAddress = "0x0000000000000000000000000000000000000001";
  test.each([
    ["DEPOSIT_ALREADY_ASSIGNED", { decision: "assigned", status: "orphaned" }],
    ["DEPOSIT_ORPHANED", { status: "orphaned", tokenAddress: otherAddress }],
    ["DEPOSIT_NOT_SETTLED", { status: "seen", tokenAddress: otherAddress }],
    ["DEPOSIT_WRONG_TOKEN", { tokenAddress: otherAddress, destinationAddress: otherAddress }],
    ["DEPOSIT_WRONG_TOKEN", { chainId: "1", destinationAddress: otherAddress }],
    ["DEPOSIT_WRONG_DESTINATION", { destinationAddress: otherAddress }],
  ] as const)("rejects with %s before any later check: %j", (code, overrides) => {
    expect(getErrorCode(overrides, { status: "inactive" })).toBe(code);
  });

  test("rejects a link that has ended, to the millisecond, by our clock and by the chain's time", () => {
    expect(getErrorCode({}, { status: "completed" })).toBe("PAYMENT_LINK_NOT_ACTIVE");
    expect(getErrorCode({}, {}, afterStart(999))).toBeUndefined();
    expect(getErrorCode({}, {}, afterStart(1000))).toBe("PAYMENT_LINK_NOT_ACTIVE");
    expect(getErrorCode({ occurredAt: afterStart(999) })).toBeUndefined();
    expect(getErrorCode({ occurredAt: afterStart(1000) })).toBe("PAYMENT_LINK_NOT_ACTIVE");
  });
});

describe("rankLinks", () => {
  const dayMs = 86_400_000;
  const createLikelyLink = (id: string, overrides: Partial<LikelyLink> = {}): LikelyLink => ({
    id,
    toAmount: new Decimal("25"),
    receivedAmount: new Decimal("0"),
    createdAt: afterStart(-2 * dayMs),
    description: null,
    isOfSender: false,
    ...overrides,
  });
  const rankIds = (...links: readonly LikelyLink[]) =>
    rankLinks(createDeposit({ occurredAt: testStartTime }), links).map(({ id, reasons }) => [
      id,
      ...reasons,
    ]);

  test("returns only links that match by remaining amount or sender, or were created at most a day before the deposit", () => {
    const links = [
      createLikelyLink("none"),
      createLikelyLink("rest", { receivedAmount: new Decimal("15") }),
      createLikelyLink("sender", { isOfSender: true }),
    ];
    expect(rankIds(...links)).toEqual([
      ["rest", "amount"],
      ["sender", "sender"],
    ]);
    const linksByAge = [-1, 0, dayMs, dayMs + 1].map((ageMs) =>
      createLikelyLink(`${ageMs}`, { createdAt: afterStart(-ageMs) }),
    );
    expect(rankIds(...linksByAge)).toEqual([
      ["0", "time"],
      [`${dayMs}`, "time"],
    ]);
  });

  test("returns at most three links: the amount outranks sender and time together, then the newest first", () => {
    const remainingAmount = { toAmount: new Decimal("10") };
    const links = [
      createLikelyLink("time", { createdAt: afterStart(-1) }),
      createLikelyLink("older sender", { isOfSender: true, createdAt: afterStart(-3 * dayMs) }),
      createLikelyLink("sender", { isOfSender: true }),
      createLikelyLink("both", { isOfSender: true, createdAt: afterStart(-1) }),
      createLikelyLink("amount", remainingAmount),
    ];
    expect(rankIds(...links).map(([id]) => id)).toEqual(["amount", "both", "sender"]);
    expect(rankIds(...links.slice(0, 3)).map(([id]) => id)).toEqual([
      "sender",
      "older sender",
      "time",
    ]);
  });
});
