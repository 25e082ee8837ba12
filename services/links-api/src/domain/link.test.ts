import { describe, expect, test } from "@jest/globals";
import { Decimal, ApiError, loadCatalogue, pickLinkTexts } from "@payment-links/contracts";
import { sampleAccount, shopAddress, testStartTime, usdcOnBase } from "../testing/samples.ts";
import { deactivateLink, toLinkState, buildLink, requirePayableAccount, statusAt } from "./link.ts";

const catalogue = loadCatalogue();
const owner = requirePayableAccount(sampleAccount(), catalogue, "live");
const generated = {
  id: "plink_1",
  paymentReference: "ab".repeat(16),
  now: testStartTime,
};

const createBody = (toAmount: string) => ({
  toAmount: new Decimal(toAmount),
  ...pickLinkTexts({}),
  maxUsage: null,
  expirationDate: null,
});

const buildSampleLink = (overrides: { expirationDate?: Date } = {}) => ({
  ...buildLink({ ...createBody("10"), ...overrides }, owner, generated),
  destinationAddress: shopAddress,
});

const getErrorCodes = (run: () => unknown): string[] => {
  try {
    run();
  } catch (error) {
    if (error instanceof ApiError) return error.entries.map(({ code }) => code);
    throw error;
  }
  return [];
};

const afterStart = (ms: number) => new Date(testStartTime.getTime() + ms);

describe("creating a link", () => {
  test("starts active at version 1 with nothing received, and settles to the default wallet (rules API-2 and STATE-1)", () => {
    expect(buildSampleLink()).toMatchObject({
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
  ])("for %s of a token with 6 decimals, returns the errors %j (rule API-14)", (amount, codes) => {
    expect(getErrorCodes(() => buildLink(createBody(amount), owner, generated))).toEqual(codes);
  });

  test("stores all fields of the request and the generated ids, and includes them in event states", () => {
    const expirationDate = afterStart(1000);
    const texts = pickLinkTexts({ description: "Order 7" });
    const body = { toAmount: new Decimal("2.5"), ...texts, maxUsage: 3, expirationDate };
    const link = buildLink(body, owner, generated);
    const { userId, ...linkFields } = link;
    expect(userId).toBe(owner.id);
    expect(linkFields).toEqual({
      id: "plink_1",
      mode: "live",
      version: 1,
      status: "active",
      toAmount: body.toAmount,
      receivedAmount: new Decimal(0),
      currentUsage: 0,
      maxUsage: 3,
      ...texts,
      createdAt: testStartTime,
      expiresAt: expirationDate,
      deactivatedAt: null,
      walletId: owner.wallet.id,
      walletProvider: null,
      ...usdcOnBase,
      paymentReference: generated.paymentReference,
      lastTransactionId: null,
    });
    const paymentFields = { version: 7, currentUsage: 2, receivedAmount: new Decimal(1) };
    expect(
      toLinkState({ ...link, ...paymentFields, destinationAddress: shopAddress }, afterStart(1)),
    ).toEqual({
      id: "plink_1",
      userId,
      mode: "live",
      status: "active",
      toAmount: body.toAmount,
      maxUsage: 3,
      ...texts,
      ...paymentFields,
      expirationDate,
      destinationAddress: shopAddress,
      chainId: usdcOnBase.chainId,
      tokenAddress: usdcOnBase.tokenAddress,
      paymentReference: generated.paymentReference,
      dateCreated: testStartTime,
    });
  });

  test.each([
    ["no handle", { handle: null }],
    ["no wallet", { wallets: [] }],
    ["a single Bitcoin address", { wallets: [{ ...owner.wallet, tokenId: "btc-testnet4" }] }],
  ])("rejects an account with %s", (_case, overrides) => {
    expect(
      getErrorCodes(() => requirePayableAccount(sampleAccount(overrides), catalogue, "live")),
    ).toEqual(["PAYMENT_LINK_ACCOUNT_NOT_READY"]);
  });

  test("rejects an account whose default wallet's token is not in the catalogue", () => {
    const account = sampleAccount();
    const wallets = account.wallets.map((wallet) => ({ ...wallet, tokenId: "gone" }));
    expect(
      getErrorCodes(() => requirePayableAccount({ ...account, wallets }, catalogue, "live")),
    ).toEqual(["PAYMENT_LINK_ACCOUNT_NOT_READY"]);
  });
});

describe("statusAt", () => {
  const link = buildSampleLink({ expirationDate: afterStart(1000) });

  test("returns inactive from the instant of the expiry, also in event states (rule STATE-3)", () => {
    expect(statusAt(link, afterStart(999))).toBe("active");
    expect(statusAt(link, afterStart(1000))).toBe("inactive");
    expect(toLinkState(link, afterStart(999)).status).toBe("active");
    expect(toLinkState(link, afterStart(1000)).status).toBe("inactive");
  });

  test("stays completed after the expiry (rule STATE-5)", () => {
    expect(statusAt({ ...link, status: "completed" }, afterStart(5000))).toBe("completed");
  });

  test("stays active without an expiry", () => {
    expect(statusAt(buildSampleLink(), afterStart(1e12))).toBe("active");
  });
});

describe("deactivateLink", () => {
  test("makes an active link permanently inactive and increments its version", () => {
    const link = deactivateLink(buildSampleLink(), afterStart(1));
    expect(link).toMatchObject({ status: "inactive", version: 2, deactivatedAt: afterStart(1) });
    expect(getErrorCodes(() => deactivateLink(link, afterStart(2)))).toEqual([
      "PAYMENT_LINK_NOT_ACTIVE",
    ]);
  });

  test("rejects a completed or expired link", () => {
    const expired = buildSampleLink({ expirationDate: afterStart(1) });
    for (const link of [{ ...buildSampleLink(), status: "completed" as const }, expired]) {
      expect(getErrorCodes(() => deactivateLink(link, afterStart(1)))).toEqual([
        "PAYMENT_LINK_NOT_ACTIVE",
      ]);
    }
  });
});
