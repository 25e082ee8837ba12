import { randomBytes } from "node:crypto";
import { afterEach, describe, expect, test } from "@jest/globals";
import { getChainSource } from "@payment-links/chains";
import { type Account, newId } from "@payment-links/contracts";
import { waitUntil } from "@payment-links/runtime/testing";
import { useRig } from "@payment-links/runtime/testing/use-rig";
import { getAddressDecoder, getTransactionDecoder } from "@solana/kit";
import { createRig } from "../testing/create-rig.ts";
import { sampleAccount, sampleSettlement } from "../testing/samples.ts";
import { languages } from "./languages.ts";
import { german } from "./languages/de.ts";
import { english } from "./languages/en.ts";

/* The requests of wallets that scanned a transaction request. The state of the chain is faked. */

const checkoutUrl = "https://pay.example";
const rig = useRig(() => createRig({ settlementChains: ["solana", "8453"], checkoutUrl, limits }));
const limits = {
  perKey: { tokensPerSecond: 1_000_000, burst: 1_000_000 },
  perAddress: { tokensPerSecond: 0.001, burst: 1_000 },
};

const owner = "9WzDXwBbmkg8ZTbNMqUxvQRAyrZzDsGYdLVL9zYtAWWM";
const payer = "2q7pyhPwAwZ3QMfZrnAbDhnh9mDUqycszcpf86VgQxhF";
const blockhash = "GfVcyD4kkTrj4bKc7WA9sZCin9JDbdT4Zkd3EittNR1W";
const sufficientAccountState = {
  blockhash,
  payerAmount: "25000000",
  isOwnerReady: true,
  isTokenProgramAccount: false,
};

/** Lists the requests for payers. All other requests check a destination. */
const listPayerRequests = () =>
  rig.solana.requests.filter((request) => request.payer !== request.owner);

const createOwner = (tokenId = "usdc-solana", address = owner): Account => {
  const [walletAddress, chainType] =
    tokenId === "usdc-solana"
      ? [address, "SVM" as const]
      : ["0x5aAeb6053F3E94C9b9A09f33669435E7Ef1BeAed", "EVM" as const];
  const defaults = { isDefault: true, isChainDefault: true, provider: null };
  const wallets = [{ id: newId("wallet"), walletAddress, tokenId, chainType, ...defaults }];
  return sampleAccount({ username: "Alice ‮ Shop", wallets });
};

const createLink = async (body: object = {}, account = createOwner()) => {
  const id = await rig.createLink(rig.createKeyHeaders(account), { toAmount: "25", ...body });
  return { id, account, path: `/checkout/solana/${id}` };
};

const post = (path: string, body: unknown = { account: payer }, headers = {}) =>
  rig.call(path, {
    method: "POST",
    headers,
    body: typeof body === "string" ? body : JSON.stringify(body),
  });

const paymentFields = { chainId: "solana", destinationAddress: owner } as const;
const usdc = "EPjFWdd5AufqSSqeM2qN1xzybapC8G4wEGGkZwyTDt1v";

/** Returns 32 random bytes in base58, which is the format of all addresses in this test. */
const randomAddress = (): string => getAddressDecoder().decode(randomBytes(32));

describe("a transaction request of Solana Pay (rule CHAIN-23)", () => {
  afterEach(() => {
    delete rig.solana.accountState;
    rig.solana.requests.length = 0;
  });

  test("GET returns the owner's name and an icon in a format that wallets support", async () => {
    const { path } = await createLink();
    const { status, json, headers } = await rig.call(path);
    expect([status, json]).toEqual([
      200,
      { label: "Alice ‮ Shop", icon: `${checkoutUrl}/favicon.svg` },
    ]);
    expect(headers.get("access-control-allow-origin")).toBe("*");
    const icon = await rig.call(new URL(json.icon).pathname);
    expect(icon.headers.get("content-type")).toContain("image/svg+xml");
  });

  test("POST has a tenth of the rate limit of other requests (rule API-21)", async () => {
    rig.solana.accountState = sufficientAccountState;
    const { path } = await createLink();
    expect((await post(path)).headers.get("ratelimit-policy")).toMatch(/^"transactions";q=100;/);
    expect((await rig.call(path)).headers.get("ratelimit-policy")).toMatch(/^"ip";q=1000;/);
  });

  test("POST returns a transaction for the remaining amount, with the description as its message", async () => {
    const { id, path } = await createLink({ description: `Order 7 ${"😀".repeat(100)}` });
    await rig.settle(
      sampleSettlement(id, { ...paymentFields, amount: "10.000001", tokenAddress: usdc }),
    );
    rig.solana.accountState = sufficientAccountState;
    const { status, json, headers } = await post(path);
    expect(status).toBe(200);
    expect(Object.keys(json).sort()).toEqual(["message", "transaction"]);
    expect([...json.message]).toHaveLength(80);
    const bytes = Buffer.from(json.transaction, "base64");
    expect(getTransactionDecoder().decode(bytes).signatures).toEqual({ [payer]: null });
    const amount = Buffer.alloc(10, 6);
    amount[0] = 12;
    amount.writeBigUInt64LE(14_999_999n, 1);
    expect(bytes.includes(amount)).toBe(true);
    expect(bytes.includes(id)).toBe(true);
    expect(listPayerRequests()).toEqual([{ chainId: "solana", tokenAddress: usdc, payer, owner }]);
    expect(headers.get("access-control-allow-origin")).toBe("*");
    expect(headers.get("cache-control")).toBe("no-store");
  });

  test("the instructions include its URL, which needs no encoding", async () => {
    const { id } = await createLink();
    const { json } = await rig.call(`/checkout/payment-links/${id}`);
    expect(json.instructions.transactionRequestUrl).toBe(
      `solana:${checkoutUrl}/checkout/solana/${id}`,
    );
  });

  const rejectionCases: [
    name: string,
    expected: [number, string, keyof typeof english.wallet],
    make: () => Promise<{ path: string; body?: unknown }>,
  ][] = [
    [
      "an unknown link",
      [404, "CANNOT_FIND_PAYMENT_LINK", "unknown"],
      async () => ({ path: "/checkout/solana/plink_01m7y4kb9sfvktcnzb0r3g9a0s" }),
    ],
    [
      "an id with a NUL",
      [404, "CANNOT_FIND_PAYMENT_LINK", "unknown"],
      async () => ({ path: "/checkout/solana/%00" }),
    ],
    [
      "a link on another chain",
      [404, "NOT_FOUND", "elsewhere"],
      async () => createLink({}, createOwner("usdc-base")),
    ],
    [
      "an amount of more than 64 bits",
      [404, "NOT_FOUND", "elsewhere"],
      async () => createLink({ toAmount: "18446744073709.551616" }),
    ],
    [
      "a paid link",
      [409, "PAYMENT_LINK_NOT_ACTIVE", "completed"],
      async () => {
        const link = await createLink();
        await rig.settle(
          sampleSettlement(link.id, { ...paymentFields, amount: "25", tokenAddress: usdc }),
        );
        return link;
      },
    ],
    [
      "a closed link",
      [409, "PAYMENT_LINK_NOT_ACTIVE", "inactive"],
      async () => {
        const link = await createLink();
        const headers = rig.createSessionHeaders(link.account);
        await rig.call(`/console/api/payment-links/${link.id}/deactivate`, {
          method: "POST",
          headers,
        });
        return link;
      },
    ],
    [
      "an expired link",
      [409, "PAYMENT_LINK_NOT_ACTIVE", "expired"],
      async () => {
        const link = await createLink({ expirationDate: "2026-11-21T10:00:01Z" });
        rig.clock.advance(1_000);
        return link;
      },
    ],
    [
      "a suspended owner",
      [403, "ACCOUNT_SUSPENDED", "held"],
      async () => {
        const link = await createLink();
        await rig.receiveAccount({
          ...link.account,
          isSuspended: true,
          version: link.account.version + 1,
        });
        return link;
      },
    ],
    [
      "a pending payment of the remaining amount",
      [409, "PAYMENT_SEEN", "payment_seen"],
      async () => {
        const link = await createLink();
        await rig.settle(
          sampleSettlement(link.id, {
            ...paymentFields,
            status: "processing",
            amount: "25",
            tokenAddress: usdc,
          }),
        );
        return link;
      },
    ],
    [
      "the owner's own account",
      [409, "PAYER_IS_OWNER", "own_account"],
      async () => ({ ...(await createLink()), body: { account: owner } }),
    ],
    [
      "an unavailable settlement-listener",
      [503, "SERVICE_UNAVAILABLE", "away"],
      () => createLink(),
    ],
    ...[
      {},
      { account: null },
      { account: 7 },
      { account: "" },
      { account: "0x5aAeb6053F3E94C9b9A09f33669435E7Ef1BeAed" },
      { account: "1".repeat(32) },
      { account: "z".repeat(44) },
      { account: "2".repeat(60_000) },
      { account: [payer] },
      { account: `${payer} ` },
      { account: { toString: payer } },
    ].map((body): (typeof rejectionCases)[number] => [
      `the account ${JSON.stringify(body).slice(0, 60)}`,
      [422, "", "noAccount"],
      async () => ({ ...(await createLink()), body }),
    ]),
    ...["", "[]", "null", "{", '"x"', "\u0000"].map((body): (typeof rejectionCases)[number] => [
      `the body ${JSON.stringify(body)}`,
      [422, "", "noAccount"],
      async () => ({ ...(await createLink()), body }),
    ]),
  ];

  test.each(rejectionCases)(
    "%s is rejected with a text in both languages",
    async (_name, expected, createRequest) => {
      const [status, code, textName] = expected;
      const { path, body } = await createRequest();
      for (const [language, texts] of [
        ["en", english.wallet],
        ["de", german.wallet],
      ] as const) {
        const response = await post(path, body, { "accept-language": language });
        expect([response.status, response.json.message]).toEqual([status, texts[textName]]);
        if (code !== "") expect(response.json.errors[0].code).toBe(code);
        expect(response.json.transaction).toBeUndefined();
        expect(response.headers.get("access-control-allow-origin")).toBe("*");
        expect(response.headers.get("vary")).toContain("Accept-Language");
      }
      expect(listPayerRequests()).toHaveLength(code === "SERVICE_UNAVAILABLE" ? 2 : 0);
    },
  );

  test("is rejected if the destination has become a token account since the page was loaded", async () => {
    const { id, path } = await createLink({}, createOwner("usdc-solana", randomAddress()));
    rig.solana.accountState = sufficientAccountState;
    expect((await rig.call(`/checkout/payment-links/${id}`)).json.reason).toBeNull();
    rig.solana.accountState = { ...sufficientAccountState, isTokenProgramAccount: true };
    const { status, json } = await post(path);
    expect([status, json.message]).toEqual([404, english.wallet.lost]);
  });

  const pendingPaymentFields = {
    ...paymentFields,
    tokenAddress: usdc,
    status: "processing",
    amount: "25",
  } as const;

  test("finds a pending payment of the remaining amount behind ten newer ones", async () => {
    const { id, path } = await createLink();
    rig.solana.accountState = sufficientAccountState;
    const firstSeenAt = new Date(rig.clock.now().getTime() + 1);
    const newerPaymentFields = { ...pendingPaymentFields, amount: "0.000001", firstSeenAt };
    await rig.settle(
      sampleSettlement(id, pendingPaymentFields),
      ...Array.from({ length: 10 }, () => sampleSettlement(id, newerPaymentFields)),
    );
    const { status, json } = await post(path);
    expect([status, json.errors?.[0].code]).toEqual([409, "PAYMENT_SEEN"]);
  });

  test.each([
    ["to the payer's own account", { destinationAddress: payer }],
    ["in another token", { tokenAddress: "HzwqbKZw8HxMN6bF2yFZNrht3c2iXXzpKcFu7uBEDKtr" }],
  ])(
    "a payment %s, which anyone can make with the reference, does not block other payers",
    async (_, overrides) => {
      const { id, path } = await createLink();
      rig.solana.accountState = sufficientAccountState;
      const source = getChainSource("solana");
      const sourceId = `5sig:${id}:0`;
      await rig.settle(
        sampleSettlement(id, { ...pendingPaymentFields, source, sourceId, ...overrides }),
      );
      expect((await post(path)).status).toBe(200);
    },
  );

  test("an account with too low a balance gets both amounts, and one with exactly enough can pay", async () => {
    const { path } = await createLink();
    rig.solana.accountState = { ...sufficientAccountState, payerAmount: "24999999" };
    const { status, json } = await post(path);
    expect([status, json.errors[0].code]).toEqual([409, "BALANCE_TOO_LOW"]);
    expect(json.message).toBe("Not enough USDC: you need 25 but have 24.999999.");
    rig.solana.accountState = sufficientAccountState;
    expect((await post(path)).status).toBe(200);
  });

  test("every message fits into the 80 characters that wallets show at least", () => {
    for (const text of Object.values(languages).flatMap(({ texts }) =>
      Object.values(texts.wallet),
    )) {
      expect([text, text.length <= 80]).toEqual([text, true]);
    }
  });

  test("a page of another origin may send requests, but without cookies", async () => {
    const { path } = await createLink();
    const { status, headers, text } = await rig.call(path, {
      method: "OPTIONS",
      headers: { origin: "https://wallet.example", "access-control-request-method": "POST" },
    });
    const getCorsHeader = (name: string) => headers.get(`access-control-allow-${name}`);
    expect([status, text]).toEqual([204, ""]);
    expect([getCorsHeader("origin"), getCorsHeader("methods"), getCorsHeader("headers")]).toEqual([
      "*",
      "GET, POST",
      "Content-Type, Accept-Language",
    ]);
    expect(getCorsHeader("credentials")).toBeNull();
  });

  test("without https the instructions include no transaction request URL, because wallets require https", async () => {
    const otherRig = await createRig({
      settlementChains: ["solana"],
      checkoutUrl: "http://127.0.0.1",
    });
    try {
      const id = await otherRig.createLink(otherRig.createKeyHeaders(createOwner()), {
        toAmount: "25",
      });
      const { json } = await otherRig.call(`/checkout/payment-links/${id}`);
      expect(json.instructions.transactionRequestUrl).toBeNull();
      expect(json.instructions.transferRequestUrl).toMatch(/^solana:/);
    } finally {
      await otherRig.close();
    }
  });

  test("is rejected while eight others are being built, before it uses the database", async () => {
    rig.solana.accountState = sufficientAccountState;
    const { path } = await createLink();
    const held = Promise.withResolvers<void>();
    rig.solana.held = held.promise;
    const pendingResponses = Array.from({ length: 8 }, () => post(path));
    try {
      await waitUntil("eight requests are pending", () => listPayerRequests().length === 8);
      const { status, json } = await post(path);
      expect([status, json.message]).toEqual([429, english.wallet.tooMany]);
      expect(listPayerRequests()).toHaveLength(8);
    } finally {
      delete rig.solana.held;
      held.resolve();
    }
    for (const { status } of await Promise.all(pendingResponses)) expect(status).toBe(200);
    expect((await post(path)).status).toBe(200);
  });

  test("too many requests are rejected with a text for the payer", async () => {
    const fewRequestsLimits = { ...limits, perAddress: { tokensPerSecond: 0.001, burst: 2 } };
    const otherRig = await createRig({ settlementChains: ["solana"], limits: fewRequestsLimits });
    try {
      const body = JSON.stringify({ account: payer });
      const sendRequest = () => otherRig.call("/checkout/solana/x", { method: "POST", body });
      await sendRequest();
      await sendRequest();
      const { status, json, headers } = await sendRequest();
      expect([status, json.message]).toEqual([429, english.wallet.tooMany]);
      expect(headers.get("access-control-allow-origin")).toBe("*");
    } finally {
      await otherRig.close();
    }
  });
});

describe("a link whose destination on Solana is a token account or a mint (rule CHAIN-26)", () => {
  afterEach(() => {
    delete rig.solana.accountState;
    rig.solana.requests.length = 0;
  });
  const tokenAccountState = { ...sufficientAccountState, isTokenProgramAccount: true };
  const createLinkAtRandomAddress = () =>
    createLink({}, createOwner("usdc-solana", randomAddress()));
  const readReason = async (id: string): Promise<unknown> =>
    (await rig.call(`/checkout/payment-links/${id}`)).json.reason;

  test("offers no payment instructions, and its page says why in both languages", async () => {
    const { id, account, path } = await createLinkAtRandomAddress();
    rig.solana.accountState = tokenAccountState;
    const { json } = await rig.call(`/checkout/payment-links/${id}`);
    expect([json.instructions, json.reason]).toEqual([null, "destination_not_payable"]);
    for (const [language, expectedText] of [
      ["en", "The seller could not spend money"],
      ["de", "Der Verkäufer könnte Geld"],
    ] as const) {
      const headers = { "accept-language": language };
      const { status, text } = await rig.call(`/@${account.handle}/pay/${id}`, { headers });
      expect([status, text.includes(expectedText), text.includes("solana:")]).toEqual([
        200,
        true,
        false,
      ]);
    }
    for (const image of ["payment", "request"]) {
      expect((await rig.call(`/checkout/qr/${id}/${image}.svg`)).status).toBe(404);
    }
    const { status, json: rejected } = await post(path);
    expect([status, rejected.message]).toEqual([404, english.wallet.lost]);
  });

  test("can be paid again a minute after the account is gone", async () => {
    const { id } = await createLinkAtRandomAddress();
    rig.solana.accountState = tokenAccountState;
    expect(await readReason(id)).toBe("destination_not_payable");
    rig.solana.accountState = sufficientAccountState;
    rig.clock.advance(60_000);
    expect(await readReason(id)).toBeNull();
  });

  test("stays unpayable while no node responds", async () => {
    const { id } = await createLinkAtRandomAddress();
    rig.solana.accountState = tokenAccountState;
    expect(await readReason(id)).toBe("destination_not_payable");
    delete rig.solana.accountState;
    rig.clock.advance(60_000);
    expect(await readReason(id)).toBe("destination_not_payable");
  });

  // The wallet was checked when it was added, so payers can pay even if no node responds now.
  test("can be paid if no check has found a problem, with at most one chain request in ten seconds", async () => {
    const { id } = await createLinkAtRandomAddress();
    for (let readCount = 0; readCount < 3; readCount += 1) expect(await readReason(id)).toBeNull();
    expect(rig.solana.requests).toHaveLength(1);
    rig.clock.advance(10_000);
    rig.solana.accountState = tokenAccountState;
    expect(await readReason(id)).toBe("destination_not_payable");
  });
});
