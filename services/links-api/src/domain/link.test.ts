import { describe, expect, test } from "@jest/globals";
import { Decimal, Refusal, openCatalogue, linkTexts } from "@payment-links/contracts";
import { sampleAccount, shopAddress, start, usdcOnBase } from "../testing/samples.ts";
import { deactivateLink, linkState, openLink, readyAccount, statusAt } from "./link.ts";

const catalogue = openCatalogue();
const owner = readyAccount(sampleAccount(), catalogue);
const drawn = {
  id: "plink_1",
  paymentReference: "ab".repeat(16),
  now: start,
};

const order = (toAmount: string) => ({
  toAmount: new Decimal(toAmount),
  ...linkTexts({}),
  maxUsage: null,
  expirationDate: null,
});

const open = (more: { expirationDate?: Date } = {}) => ({
  ...openLink({ ...order("10"), ...more }, owner, drawn),
  destinationAddress: shopAddress,
});

const codesOf = (act: () => unknown): string[] => {
  try {
    act();
  } catch (error) {
    if (error instanceof Refusal) return error.entries.map(({ code }) => code);
    throw error;
  }
  return [];
};

const later = (ms: number) => new Date(start.getTime() + ms);

describe("opening a link", () => {
  test("it is active, at version 1, with nothing received, and settles to the default wallet (rules API-2 and STATE-1)", () => {
    expect(open()).toMatchObject({
      status: "active",
      version: 1,
      receivedAmount: new Decimal(0),
      currentUsage: 0,
      walletId: owner.wallet.id,
      ...usdcOnBase,
    });
  });

  test.each([
    ["0.000001", []],
    ["0.0000010", []],
    ["0.0000001", ["INVALID_PAYMENT_LINK_AMOUNT"]],
    ["1.0000001", ["INVALID_PAYMENT_LINK_AMOUNT"]],
    ["9".repeat(72), []],
    [`${"9".repeat(72)}.999999`, []],
    [`1${"0".repeat(72)}`, ["decimal_max_digits"]],
  ])("given %s of a token with 6 decimals, refuses %j (rule API-14)", (amount, codes) => {
    expect(codesOf(() => openLink(order(amount), owner, drawn))).toEqual(codes);
  });

  test("it holds all that was ordered and drawn, and tells it in the state of its events", () => {
    const expirationDate = later(1000);
    const texts = linkTexts({ description: "Order 7" });
    const ordered = { toAmount: new Decimal("2.5"), ...texts, maxUsage: 3, expirationDate };
    const link = openLink(ordered, owner, drawn);
    const { userId, ...kept } = link;
    expect(userId).toBe(owner.id);
    expect(kept).toEqual({
      id: "plink_1",
      version: 1,
      status: "active",
      toAmount: ordered.toAmount,
      receivedAmount: new Decimal(0),
      currentUsage: 0,
      maxUsage: 3,
      ...texts,
      createdAt: start,
      expiresAt: expirationDate,
      deactivatedAt: null,
      walletId: owner.wallet.id,
      walletProvider: null,
      ...usdcOnBase,
      paymentReference: drawn.paymentReference,
      lastTransactionId: null,
    });
    const paid = { version: 7, currentUsage: 2, receivedAmount: new Decimal(1) };
    expect(linkState({ ...link, ...paid, destinationAddress: shopAddress }, later(1))).toEqual({
      id: "plink_1",
      userId,
      status: "active",
      toAmount: ordered.toAmount,
      maxUsage: 3,
      ...texts,
      ...paid,
      expirationDate,
      destinationAddress: shopAddress,
      chainId: usdcOnBase.chainId,
      tokenAddress: usdcOnBase.tokenAddress,
      paymentReference: drawn.paymentReference,
      dateCreated: start,
    });
  });

  test.each([
    ["no handle", { handle: null }],
    ["no wallet", { wallets: [] }],
    ["one address on Bitcoin", { wallets: [{ ...owner.wallet, tokenId: "btc-testnet4" }] }],
  ])("given an account with %s, it is not ready", (_what, change) => {
    expect(codesOf(() => readyAccount(sampleAccount(change), catalogue))).toEqual([
      "PAYMENT_LINK_ACCOUNT_NOT_READY",
    ]);
  });

  test("given a default wallet whose token the catalogue does not have, the account is not ready", () => {
    const account = sampleAccount();
    const wallets = account.wallets.map((wallet) => ({ ...wallet, tokenId: "gone" }));
    expect(codesOf(() => readyAccount({ ...account, wallets }, catalogue))).toEqual([
      "PAYMENT_LINK_ACCOUNT_NOT_READY",
    ]);
  });
});

describe("a link's status", () => {
  const link = open({ expirationDate: later(1000) });

  test("turns inactive at the instant of its expiry, and in the state that its events carry (rule STATE-3)", () => {
    expect(statusAt(link, later(999))).toBe("active");
    expect(statusAt(link, later(1000))).toBe("inactive");
    expect(linkState(link, later(999)).status).toBe("active");
    expect(linkState(link, later(1000)).status).toBe("inactive");
  });

  test("once completed, stays so beyond its expiry (rule STATE-5)", () => {
    expect(statusAt({ ...link, status: "completed" }, later(5000))).toBe("completed");
  });

  test("without an expiry, stays active", () => {
    expect(statusAt(open(), later(1e12))).toBe("active");
  });
});

describe("deactivating a link", () => {
  test("makes an active link inactive for ever, one version on", () => {
    const link = deactivateLink(open(), later(1));
    expect(link).toMatchObject({ status: "inactive", version: 2, deactivatedAt: later(1) });
    expect(codesOf(() => deactivateLink(link, later(2)))).toEqual(["PAYMENT_LINK_NOT_ACTIVE"]);
  });

  test("is refused once completed or expired", () => {
    const expired = open({ expirationDate: later(1) });
    for (const link of [{ ...open(), status: "completed" as const }, expired]) {
      expect(codesOf(() => deactivateLink(link, later(1)))).toEqual(["PAYMENT_LINK_NOT_ACTIVE"]);
    }
  });
});
