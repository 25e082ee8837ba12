import { describe, expect, test } from "@jest/globals";
import { useRig } from "@payment-links/runtime/testing/use-rig";
import { createRig } from "../testing/create-rig.ts";
import { sampleAccount, shopAddress, usdcOnBase } from "../testing/samples.ts";

const rig = useRig(createRig);

const postLink = (headers: Record<string, string>, body: unknown) =>
  rig.call("/v1/payment-link", {
    method: "POST",
    headers,
    body: typeof body === "string" ? body : JSON.stringify(body),
  });

describe("POST /v1/payment-link", () => {
  test("returns only id and url, and the link can be retrieved immediately with its owner (rules API-2, API-6, API-7 and API-8)", async () => {
    const account = sampleAccount();
    const created = await postLink(rig.createKeyHeaders(account), {
      toAmount: "25.500",
      description: "Order 7",
    });
    expect(created.status).toBe(200);
    const { id } = created.json;
    expect(created.json).toEqual({ id, url: `https://pay.example/@${account.handle}/pay/${id}` });
    expect(id).toMatch(/^plink_[0-9a-z]{26}$/);

    const link = await rig.retrieve(id);
    expect(link).toEqual({
      id,
      userId: account.id,
      toAmount: "25.5",
      destinationAddress: shopAddress,
      url: created.json.url,
      dateCreated: "2026-11-21T10:00:00.000Z",
      token: link.token,
      status: "active",
      description: "Order 7",
      maxUsage: null,
      receivedAmount: "0",
      expirationDate: null,
      transactionUrl: null,
      user: link.user,
    });
    expect(link.token).toEqual({
      address: usdcOnBase.tokenAddress,
      decimals: 6,
      symbol: "USDC",
      name: "USD Coin",
      logo: null,
      isNative: false,
      isStablecoin: true,
      currencyCode: "USD",
      commodityCode: null,
      priceUsd: null,
      isVerified: true,
      chain: {
        id: "8453",
        name: "Base",
        symbol: "ETH",
        chainType: "EVM",
        logo: "https://pay.example/checkout/logos/8453.svg",
      },
    });
    expect(link.user).toEqual({
      id: account.id,
      handle: account.handle,
      username: account.username,
      dateCreated: "2026-01-02T03:04:05.000Z",
      wallet: {
        walletAddress: shopAddress,
        token: { id: usdcOnBase.tokenId, token: link.token },
        chainType: "EVM",
        isDefault: true,
        isChainDefault: true,
        provider: null,
      },
      profileImage: null,
      bio: null,
      backgroundImage: null,
      backgroundColour: null,
      links: null,
      isMooveUser: true,
      contact: null,
      badges: null,
    });
  });

  test("publishes the link once, with a payment reference that the API never returns (rules CHAIN-1 and CHAIN-11)", async () => {
    const id = await rig.createLink(rig.createKeyHeaders(sampleAccount()), {
      toAmount: 3,
      maxUsage: 2,
    });
    const events = await rig.listEvents(id);
    expect(events).toHaveLength(1);
    expect(events[0]?.type).toBe("payment_link.created");
    expect(events[0]?.data.link).toMatchObject({
      id,
      version: 1,
      status: "active",
      toAmount: "3",
      receivedAmount: "0",
      currentUsage: 0,
      maxUsage: 2,
    });
    const paymentReference: unknown = events[0]?.data.link.paymentReference;
    expect(paymentReference).toMatch(/^[0-9a-f]{32}$/);
    expect(JSON.stringify(await rig.retrieve(id))).not.toContain(String(paymentReference));
  });
});

const listErrorCodes = (response: { json: { errors: { code: string }[] } }) =>
  response.json.errors.map(({ code }) => code);

const createBody = (overrides: object = {}) => JSON.stringify({ toAmount: "1", ...overrides });

describe("POST /v1/payment-link, rejected requests", () => {
  const validationCases: [string, string, string[]][] = [
    ["an empty body", "", ["missing"]],
    ["no amount", "{}", ["missing"]],
    ["invalid JSON", "{", ["json_invalid"]],
    ["bytes that are not UTF-8", "\ud800", ["json_invalid"]],
    ["JSON null", "null", ["model_attributes_type"]],
    ["a list", "[]", ["model_attributes_type"]],
    ["a number", "1", ["model_attributes_type"]],
    ["the amount null", '{"toAmount":null}', ["decimal_type"]],
    ["the amount true", '{"toAmount":true}', ["decimal_type"]],
    ["an amount in words", '{"toAmount":"ten"}', ["decimal_parsing"]],
    ["an empty amount", '{"toAmount":""}', ["decimal_parsing"]],
    ["the amount NaN", '{"toAmount":"NaN"}', ["finite_number"]],
    ["an infinite amount", '{"toAmount":"-Infinity"}', ["finite_number"]],
    ["the amount 0", '{"toAmount":0}', ["greater_than"]],
    ["a negative amount", '{"toAmount":"-1"}', ["greater_than"]],
    ["a huge exponent", '{"toAmount":"1e999999999"}', ["decimal_max_digits"]],
    ["a huge exponent in a number", '{"toAmount":1e999999999}', ["decimal_max_digits"]],
    ["79 digits", `{"toAmount":"${"9".repeat(79)}"}`, ["decimal_max_digits"]],
    ["79 digits in base units", `{"toAmount":"${"9".repeat(73)}"}`, ["decimal_max_digits"]],
    ["a description that is a number", createBody({ description: 1 }), ["string_type"]],
    [
      "a description of 501 characters",
      createBody({ description: "ü".repeat(501) }),
      ["string_too_long"],
    ],
    ["a NUL in the description", createBody({ description: "a\0b" }), ["string_pattern_mismatch"]],
    ["maxUsage true", createBody({ maxUsage: true }), ["int_type"]],
    ["maxUsage in words", createBody({ maxUsage: "two" }), ["int_parsing"]],
    ["maxUsage 1.5", createBody({ maxUsage: 1.5 }), ["int_from_float"]],
    ["maxUsage 0", createBody({ maxUsage: 0 }), ["greater_than_equal"]],
    ["maxUsage 2^31", createBody({ maxUsage: 2 ** 31 }), ["less_than_equal"]],
    ["an expiry that is a number", createBody({ expirationDate: 1 }), ["datetime_type"]],
    ["an expiry in words", createBody({ expirationDate: "soon" }), ["datetime_from_date_parsing"]],
    [
      "an expiry on February 30",
      createBody({ expirationDate: "2027-02-30" }),
      ["datetime_from_date_parsing"],
    ],
    [
      "an expiry at the current time",
      createBody({ expirationDate: "2026-11-21T10:00:00" }),
      ["datetime_future"],
    ],
    [
      "a problem in each field",
      '{"toAmount":"x","description":1,"maxUsage":0,"expirationDate":"x"}',
      ["decimal_parsing", "string_type", "greater_than_equal", "datetime_from_date_parsing"],
    ],
    ["7 decimals", '{"toAmount":"0.1234567"}', ["INVALID_PAYMENT_LINK_AMOUNT"]],
    ["7 decimals in a number", '{"toAmount":0.1234567}', ["INVALID_PAYMENT_LINK_AMOUNT"]],
  ];
  test.each(validationCases)(
    "given %s, returns 422 with one code per problem (rules API-14 and ERROR-1)",
    async (_case, body, codes) => {
      const headers = {
        ...rig.createKeyHeaders(sampleAccount()),
        "content-type": "application/json",
      };
      const bodyBytes = body === "\ud800" ? Buffer.from([0x22, 0xff, 0x22]) : body;
      const response = await rig.call("/v1/payment-link", {
        method: "POST",
        headers,
        body: bodyBytes,
      });
      expect([response.status, listErrorCodes(response)]).toEqual([422, codes]);
      expect(Object.keys(response.json)).toEqual(["errors"]);
      expect(Object.keys(response.json.errors[0]).sort()).toEqual(["code", "message"]);
    },
  );

  test("given a body that is not sent as JSON, returns 422 model_attributes_type", async () => {
    const headers = { ...rig.createKeyHeaders(sampleAccount()), "content-type": "text/plain" };
    const response = await postLink(headers, createBody());
    expect([response.status, listErrorCodes(response)]).toEqual([422, ["model_attributes_type"]]);
  });

  test("accepts a body of 64 KiB and returns 413 for one more byte", async () => {
    const headers = rig.createKeyHeaders(sampleAccount());
    const padBody = (length: number) => createBody().padEnd(length, " ");
    expect((await postLink(headers, padBody(64 * 1024))).status).toBe(200);
    const response = await postLink(headers, padBody(64 * 1024 + 1));
    expect([response.status, listErrorCodes(response)]).toEqual([413, ["PAYLOAD_TOO_LARGE"]]);
  });

  test("returns a distinct error for a missing, unknown or expired key and for a missing scope (rules API-2 and API-18)", async () => {
    const account = sampleAccount();
    const expiredKeyHeaders = rig.createKeyHeaders(account, {
      expiresAt: new Date("2026-11-21T10:00:00.000Z"),
    });
    const readOnlyKeyHeaders = rig.createKeyHeaders(account, { scopes: ["payment_link:read"] });
    const attempts: [Record<string, string>, number, string][] = [
      [{}, 401, "UNAUTHENTICATED"],
      [{ "x-api-key": "plk_live_nonsense" }, 401, "INVALID_API_KEY"],
      [expiredKeyHeaders, 401, "EXPIRED_API_KEY"],
      [readOnlyKeyHeaders, 403, "INSUFFICIENT_API_SCOPE"],
    ];
    for (const [headers, status, code] of attempts) {
      // Authentication comes first, so an unauthenticated caller does not get errors about the body
      // or the idempotency key.
      const response = await postLink({ ...headers, "idempotency-key": "\u00fc" }, "{");
      expect([response.status, listErrorCodes(response)]).toEqual([status, [code]]);
    }
  });

  test("given an account without handle or default wallet, returns 409 after body validation (rule API-18)", async () => {
    const [wallet] = sampleAccount().wallets;
    const accounts = [
      sampleAccount({ handle: null }),
      sampleAccount({ wallets: [] }),
      sampleAccount({ wallets: wallet === undefined ? [] : [{ ...wallet, isDefault: false }] }),
    ];
    for (const account of accounts) {
      const headers = rig.createKeyHeaders(account);
      // The number of decimals depends on the wallet's token, so this check comes after the wallet
      // check.
      const walletErrorResponse = await postLink(headers, createBody({ toAmount: "0.1234567" }));
      expect([walletErrorResponse.status, listErrorCodes(walletErrorResponse)]).toEqual([
        409,
        ["PAYMENT_LINK_ACCOUNT_NOT_READY"],
      ]);
      const bodyErrorResponse = await postLink(headers, createBody({ toAmount: "x" }));
      expect(listErrorCodes(bodyErrorResponse)).toEqual(["decimal_parsing"]);
    }
  });
});

describe("POST /v1/payment-link, accepted requests", () => {
  const amountCases: [string, string][] = [
    ["0.1", "0.1"],
    ["12345678901234567.123456", "12345678901234567.123456"],
    ["1e3", "1000"],
    ["1.2300000000000", "1.23"],
    ['"1e3"', "1000"],
    ['" +1.50 "', "1.5"],
    ['"0.000001"', "0.000001"],
    [`"${"9".repeat(72)}"`, "9".repeat(72)],
    ['".5"', "0.5"],
  ];
  test.each(amountCases)(
    "given the amount %s, stores exactly %s (rule API-13)",
    async (amountJson, storedAmount) => {
      const response = await postLink(
        rig.createKeyHeaders(sampleAccount()),
        `{"toAmount":${amountJson}}`,
      );
      expect(response.status).toBe(200);
      expect((await rig.retrieve(response.json.id)).toAmount).toBe(storedAmount);
    },
  );

  test("stores optional fields at their limits, and ignores null and unknown fields (rule API-16)", async () => {
    const headers = rig.createKeyHeaders(sampleAccount());
    const description = "\u{1f4b6}".repeat(500);
    const fullLinkId = await rig.createLink(headers, {
      toAmount: "1",
      description,
      maxUsage: 2147483647,
      expirationDate: "2026-11-21T12:00:00.001+02:00",
      id: "plink_mine",
      status: "completed",
    });
    expect(await rig.retrieve(fullLinkId)).toMatchObject({
      description,
      maxUsage: 2147483647,
      expirationDate: "2026-11-21T10:00:00.001Z",
      status: "active",
    });
    const nullFields = { description: null, maxUsage: null, expirationDate: null };
    const minimalLinkId = await rig.createLink(headers, { toAmount: "1", ...nullFields });
    expect(await rig.retrieve(minimalLinkId)).toMatchObject(nullFields);
  });

  test("returns the link with the owner's newest state that this service received (rule API-9)", async () => {
    const account = sampleAccount();
    const id = await rig.createLink(rig.createKeyHeaders(account), { toAmount: "1" });
    const changedAccount = { ...account, version: 3, handle: "renamed_shop", username: "Renamed" };
    await rig.createLink(rig.createKeyHeaders(changedAccount), { toAmount: "1" });
    await rig.createLink(rig.createKeyHeaders({ ...account, version: 2 }), { toAmount: "1" });
    const link = await rig.retrieve(id);
    expect(link.user).toMatchObject({ handle: "renamed_shop", username: "Renamed" });
    expect(link.url).toBe(`https://pay.example/@renamed_shop/pay/${id}`);
  });
});

// This runs last, because after an outage the service stops calling auth-keys for a while.
describe("POST /v1/payment-link during an auth-keys outage", () => {
  test("returns 500 CANNOT_CREATE_PAYMENT_LINK and creates nothing (rule ERROR-3)", async () => {
    const headers = rig.createKeyHeaders(sampleAccount());
    rig.auth.isUnavailable = true;
    const response = await postLink(headers, createBody());
    rig.auth.isUnavailable = false;
    expect([response.status, listErrorCodes(response)]).toEqual([
      500,
      ["CANNOT_CREATE_PAYMENT_LINK"],
    ]);
  });
});
