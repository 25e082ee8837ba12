import { describe, expect, test } from "@jest/globals";
import { Decimal, Refusal, linkTexts, openCatalogue } from "@payment-links/contracts";
import { sampleAccount, start } from "../testing/samples.ts";
import {
  type Deposit,
  type LikelyLink,
  assignDeposit,
  hearOfDeposit,
  rankLinks,
  settlementOfDeposit,
} from "./deposit.ts";
import { type Link, openLink, readyAccount } from "./link.ts";

const owner = readyAccount(sampleAccount(), openCatalogue());
const later = (ms: number) => new Date(start.getTime() + ms);

const link: Link = {
  ...openLink(
    { toAmount: new Decimal("10"), ...linkTexts({}), maxUsage: null, expirationDate: later(1000) },
    owner,
    { id: "plink_1", paymentReference: "ab".repeat(16), now: start },
  ),
  destinationAddress: owner.wallet.walletAddress,
};

const deposit = (change: Partial<Deposit> = {}): Deposit => ({
  id: "dep_1",
  version: 2,
  status: "settled",
  amount: new Decimal("10"),
  tokenAddress: link.tokenAddress.toLowerCase(),
  chainId: link.chainId,
  destinationAddress: link.destinationAddress.toLowerCase(),
  payer: "0xPayer",
  sourceTransaction: "0xab",
  occurredAt: later(1),
  firstSeenAt: later(2),
  returnedAt: null,
  userId: "user_1",
  decision: "unmatched",
  decidedAt: null,
  linkId: null,
  paymentId: null,
  ...change,
});

describe("what is told of a deposit", () => {
  const now = later(9);

  test("is news in a higher version alone, or as a step that was not known, which keeps the version", () => {
    const known = deposit({ status: "seen" });
    expect(hearOfDeposit(known, deposit({ status: "seen", version: 2 }), now)).toBe(known);
    expect(hearOfDeposit(known, deposit({ status: "seen", version: 1 }), now)).toBe(known);
    const settled = hearOfDeposit(known, deposit({ version: 1 }), now);
    expect(settled).toMatchObject({ status: "settled", version: 2, returnedAt: null });
    expect(hearOfDeposit(settled, deposit({ status: "seen" }), now)).toBe(settled);
    expect(hearOfDeposit(settled, deposit({ version: 3 }), now)).toMatchObject({ version: 3 });
  });

  test("takes it away once under any version, until it came back and goes in a higher one", () => {
    const gone = hearOfDeposit(deposit(), deposit({ version: 1, status: "orphaned" }), now);
    expect(gone).toMatchObject({ status: "orphaned", version: 2, returnedAt: null });
    const back = hearOfDeposit(gone, deposit({ version: 3 }), now);
    expect(back).toMatchObject({ status: "settled", version: 3, returnedAt: now });
    const again = (version: number) =>
      hearOfDeposit(back, deposit({ version, status: "orphaned" }), later(10));
    expect(again(3)).toBe(back);
    expect(again(4)).toMatchObject({ status: "orphaned", version: 4, returnedAt: null });
    expect(hearOfDeposit(back, deposit({ version: 4 }), later(10)).returnedAt).toEqual(now);
  });
});

test("a deposit's payment is named by deposit and account, and says whether it is still there", () => {
  const payment = settlementOfDeposit(deposit({ userId: "user_7" }), "plink_1");
  expect(payment).toMatchObject({ sourceId: "dep_1:user_7", status: "settled", isOrphaned: false });
  expect(settlementOfDeposit(deposit({ status: "orphaned" }), "plink_1").isOrphaned).toBe(true);
  expect(settlementOfDeposit(deposit(), "plink_2").id).not.toBe(payment.id);
});

describe("assigning a deposit", () => {
  const assign = (change: Partial<Deposit>, to: Partial<Link> = {}, now = later(10)) =>
    assignDeposit(deposit(change), {
      link: { ...link, ...to },
      reports: [],
      tokenOf: () => owner.token,
      now,
    });

  const codeOf = (...asked: Parameters<typeof assign>) => {
    try {
      assign(...asked);
    } catch (error) {
      if (error instanceof Refusal) return error.entries[0]?.code;
      throw error;
    }
    return undefined;
  };

  test("credits the link, also one that another deposit was dismissed for", () => {
    const { credited, payment } = assign({ decision: "dismissed" }).taken;
    expect(payment).toMatchObject({ isApplied: true, source: "deposit", amount: new Decimal(10) });
    expect(credited).toMatchObject({ isCompleted: true, link: { status: "completed" } });
  });

  const other = "0x0000000000000000000000000000000000000001";
  test.each([
    ["DEPOSIT_ALREADY_ASSIGNED", { decision: "assigned", status: "orphaned" }],
    ["DEPOSIT_ORPHANED", { status: "orphaned", tokenAddress: other }],
    ["DEPOSIT_NOT_SETTLED", { status: "seen", tokenAddress: other }],
    ["DEPOSIT_WRONG_TOKEN", { tokenAddress: other, destinationAddress: other }],
    ["DEPOSIT_WRONG_TOKEN", { chainId: "1", destinationAddress: other }],
    ["DEPOSIT_WRONG_DESTINATION", { destinationAddress: other }],
  ] as const)("is refused as %s, before what comes after it: %j", (code, change) => {
    expect(codeOf(change, { status: "inactive" })).toBe(code);
  });

  test("is refused once the link has ended, to the millisecond, by our time and by the chain's", () => {
    expect(codeOf({}, { status: "completed" })).toBe("PAYMENT_LINK_NOT_ACTIVE");
    expect(codeOf({}, {}, later(999))).toBeUndefined();
    expect(codeOf({}, {}, later(1000))).toBe("PAYMENT_LINK_NOT_ACTIVE");
    expect(codeOf({ occurredAt: later(999) })).toBeUndefined();
    expect(codeOf({ occurredAt: later(1000) })).toBe("PAYMENT_LINK_NOT_ACTIVE");
  });
});

describe("the links that a deposit was likeliest for", () => {
  const dayMs = 86_400_000;
  const likely = (id: string, change: Partial<LikelyLink> = {}): LikelyLink => ({
    id,
    toAmount: new Decimal("25"),
    receivedAmount: new Decimal("0"),
    createdAt: later(-2 * dayMs),
    description: null,
    isOfSender: false,
    ...change,
  });
  const rank = (...links: readonly LikelyLink[]) =>
    rankLinks(deposit({ occurredAt: start }), links).map(({ id, reasons }) => [id, ...reasons]);

  test("are of what remains to be paid, of that sender, or no more than a day old; no others", () => {
    const links = [
      likely("none"),
      likely("rest", { receivedAmount: new Decimal("15") }),
      likely("sender", { isOfSender: true }),
    ];
    expect(rank(...links)).toEqual([
      ["rest", "amount"],
      ["sender", "sender"],
    ]);
    const ages = [-1, 0, dayMs, dayMs + 1].map((ageMs) =>
      likely(`${ageMs}`, { createdAt: later(-ageMs) }),
    );
    expect(rank(...ages)).toEqual([
      ["0", "time"],
      [`${dayMs}`, "time"],
    ]);
  });

  test("are three at most: the amount tells more than sender and time together, then the newest", () => {
    const rest = { toAmount: new Decimal("10") };
    const links = [
      likely("time", { createdAt: later(-1) }),
      likely("older sender", { isOfSender: true, createdAt: later(-3 * dayMs) }),
      likely("sender", { isOfSender: true }),
      likely("both", { isOfSender: true, createdAt: later(-1) }),
      likely("amount", rest),
    ];
    expect(rank(...links).map(([id]) => id)).toEqual(["amount", "both", "sender"]);
    expect(rank(...links.slice(0, 3)).map(([id]) => id)).toEqual([
      "sender",
      "older sender",
      "time",
    ]);
  });
});
