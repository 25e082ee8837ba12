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

const owner = requirePayableAccount(sampleAccount(), loadCatalogue());
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
  userId: "user_1",
  decision: "unmatched",
  decidedAt: null,
  linkId: null,
  paymentId: null,
  ...overrides,
});

describe("what is told of a deposit", () => {
  const now = afterStart(9);

  test("is news in a higher version alone, or as a step that was not known, which keeps the version", () => {
    const storedDeposit = createDeposit({ status: "seen" });
    expect(
      applyDepositState(storedDeposit, createDeposit({ status: "seen", version: 2 }), now),
    ).toBe(storedDeposit);
    expect(
      applyDepositState(storedDeposit, createDeposit({ status: "seen", version: 1 }), now),
    ).toBe(storedDeposit);
    const settled = applyDepositState(storedDeposit, createDeposit({ version: 1 }), now);
    expect(settled).toMatchObject({ status: "settled", version: 2, returnedAt: null });
    expect(applyDepositState(settled, createDeposit({ status: "seen" }), now)).toBe(settled);
    expect(applyDepositState(settled, createDeposit({ version: 3 }), now)).toMatchObject({
      version: 3,
    });
  });

  test("takes it away once under any version, until it came back and goes in a higher one", () => {
    const orphaned = applyDepositState(
      createDeposit(),
      createDeposit({ version: 1, status: "orphaned" }),
      now,
    );
    expect(orphaned).toMatchObject({ status: "orphaned", version: 2, returnedAt: null });
    const returned = applyDepositState(orphaned, createDeposit({ version: 3 }), now);
    expect(returned).toMatchObject({ status: "settled", version: 3, returnedAt: now });
    const orphanAgain = (version: number) =>
      applyDepositState(returned, createDeposit({ version, status: "orphaned" }), afterStart(10));
    expect(orphanAgain(3)).toBe(returned);
    expect(orphanAgain(4)).toMatchObject({ status: "orphaned", version: 4, returnedAt: null });
    expect(
      applyDepositState(returned, createDeposit({ version: 4 }), afterStart(10)).returnedAt,
    ).toEqual(now);
  });
});

test("a deposit's payment is named by deposit and account, and says whether it is still there", () => {
  const payment = createDepositSettlement(createDeposit({ userId: "user_7" }), "plink_1");
  expect(payment).toMatchObject({ sourceId: "dep_1:user_7", status: "settled", isOrphaned: false });
  expect(createDepositSettlement(createDeposit({ status: "orphaned" }), "plink_1").isOrphaned).toBe(
    true,
  );
  expect(createDepositSettlement(createDeposit(), "plink_2").id).not.toBe(payment.id);
});

describe("assigning a deposit", () => {
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

  test("credits the link, also one that another deposit was dismissed for", () => {
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
  ] as const)("is refused as %s, before what comes after it: %j", (code, overrides) => {
    expect(getErrorCode(overrides, { status: "inactive" })).toBe(code);
  });

  test("is refused once the link has ended, to the millisecond, by our time and by the chain's", () => {
    expect(getErrorCode({}, { status: "completed" })).toBe("PAYMENT_LINK_NOT_ACTIVE");
    expect(getErrorCode({}, {}, afterStart(999))).toBeUndefined();
    expect(getErrorCode({}, {}, afterStart(1000))).toBe("PAYMENT_LINK_NOT_ACTIVE");
    expect(getErrorCode({ occurredAt: afterStart(999) })).toBeUndefined();
    expect(getErrorCode({ occurredAt: afterStart(1000) })).toBe("PAYMENT_LINK_NOT_ACTIVE");
  });
});

describe("the links that a deposit was likeliest for", () => {
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

  test("are of what remains to be paid, of that sender, or no more than a day old; no others", () => {
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

  test("are three at most: the amount tells more than sender and time together, then the newest", () => {
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
