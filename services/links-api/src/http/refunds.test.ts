import { describe, expect, test } from "@jest/globals";
import { decodeFunctionData, erc20Abi } from "viem";
import { getCompiledTransactionMessageDecoder, getTransactionDecoder } from "@solana/kit";
import { type RefundData, type TimelineEntry, newId } from "@payment-links/contracts";
import { useRig } from "@payment-links/runtime/testing/use-rig";
import { createRig } from "../testing/create-rig.ts";
import { sampleAccount, sampleSettlement, usdcOnBase } from "../testing/samples.ts";

const rig = useRig(createRig);
const linksPath = "/console/api/payment-links";
const customer = "0x90F8bf6A479f320ead074411a4B0e7944Ea8c9C1";
const transactionId = `0x${"ab".repeat(32)}`;

type PaymentFields = NonNullable<Parameters<typeof sampleSettlement>[1]>;

/** Creates a link of an own account with one payment, and functions that call its endpoints. */
const createPaidLink = async (overrides: PaymentFields = {}) => {
  const account = sampleAccount();
  const headers = rig.createSessionHeaders(account);
  const linkId = await rig.createLink(rig.createKeyHeaders(account), { toAmount: "5" });
  const payment = sampleSettlement(linkId, { amount: "8", payer: customer, ...overrides });
  await rig.settle(payment);
  const post = (path: string, body: object, postHeaders: Record<string, string> = headers) =>
    rig.call(`${linksPath}/${path}`, {
      method: "POST",
      headers: postHeaders,
      body: JSON.stringify(body),
    });
  const order = { paymentId: payment.id, amount: "3", destinationAddress: customer };
  const record = (body: object = {}, id = linkId, postHeaders = headers) =>
    post(`${id}/refunds`, { ...order, transactionId, ...body }, postHeaders);
  const prepare = (body: object = {}, id = linkId, postHeaders = headers) =>
    post(`${id}/refund-instructions`, { ...order, ...body }, postHeaders);
  const readLink = async () => (await rig.call(`${linksPath}/${linkId}`, { headers })).json;
  const readTimeline = async (query = ""): Promise<TimelineEntry[]> =>
    (await rig.call(`${linksPath}/${linkId}/story${query}`, { headers })).json.data;
  return { account, linkId, payment, prepare, record, readLink, readTimeline, headers };
};

const formatResult = ({
  json,
  status,
}: {
  json: { errors?: { code: string }[] };
  status: number;
}) => `${status} ${json.errors?.[0]?.code ?? ""}`.trim();

/** Payments on chains of the other families. The link itself is on an EVM chain. */
const solanaPayment = {
  chainId: "solana",
  tokenAddress: "EPjFWdd5AufqSSqeM2qN1xzybapC8G4wEGGkZwyTDt1v",
} as const;
const solanaCustomer = "2q7pyhPwAwZ3QMfZrnAbDhnh9mDUqycszcpf86VgQxhF";
const tronPayment = {
  chainId: "tron",
  tokenAddress: "TR7NHqjeKQxGTCi8q8ZY4pL8otSzgjLj6t",
} as const;
const tronCustomer = "TMVQGm1qAQYVdetCeGRRkTWYYrLXuHK2HC";
const bitcoinPayment = { chainId: "bitcoin", tokenAddress: "BTC", amount: "0.01" } as const;
const bitcoinCustomer = "bc1qw508d6qejxtdg4y5r3zarvary0c5xw7kv8f3t4";

describe("recording a refund (rule CALLER-43)", () => {
  test("stores it once, and shows it with its link and in its timeline", async () => {
    const { account, linkId, payment, readLink, readTimeline, record } = await createPaidLink();
    rig.clock.advance(1_000);
    const { json: refund, status } = await record({ amount: "3.50" });
    expect([status, refund]).toEqual([
      200,
      {
        id: expect.stringMatching(/^rfd_/),
        paymentId: payment.id,
        amount: "3.5",
        tokenAddress: usdcOnBase.tokenAddress,
        chainId: usdcOnBase.chainId,
        destinationAddress: customer,
        transactionId,
        transactionUrl: `https://basescan.org/tx/${transactionId}`,
        dateCreated: rig.clock.now().toISOString(),
      },
    ]);
    const recordedAt = refund.dateCreated;
    rig.clock.advance(1_000);
    const repeats = await Promise.all([
      record({ transactionId: transactionId.toUpperCase().replace("0X", "0x") }),
      record({ amount: "1" }),
      record({ transactionId: ` ${transactionId} ` }),
    ]);
    expect(repeats.map(({ json }) => json)).toEqual([refund, refund, refund]);
    const { payments, receivedAmount, refunds } = await readLink();
    expect([receivedAmount, refunds]).toEqual(["8", [refund]]);
    expect(payments[0]).toMatchObject({ id: payment.id, applied: true, amount: "8" });
    const timeline = await readTimeline();
    expect(timeline.at(-1)).toEqual({
      kind: "refund_recorded",
      at: recordedAt,
      by: null,
      payment: null,
      refund,
    });
    expect(timeline.filter((entry) => entry.refund !== null)).toHaveLength(1);
    const audited = await rig.listAuditRecords(account.id);
    const detail = { paymentId: payment.id, refundId: refund.id };
    expect(audited).toEqual([
      expect.objectContaining({
        action: "payment_link.refund_recorded",
        targetId: linkId,
        detail,
        method: "siwe",
      }),
    ]);
    expect(JSON.stringify(audited)).not.toContain(transactionId);
  });

  test("accepts several refunds of a payment, and pages the timeline through them", async () => {
    const { headers, linkId, record } = await createPaidLink();
    const readPage = async (
      query: string,
    ): Promise<{ data: TimelineEntry[]; nextAfter: string | null }> =>
      (await rig.call(`${linksPath}/${linkId}/story${query}`, { headers })).json;
    const ids: string[] = [];
    for (let index = 0; index < 60; index += 1) {
      rig.clock.advance(index % 3 === 0 ? 1 : 0);
      const hash = `0x${index.toString(16).padStart(64, "0")}`;
      const refund: RefundData = (await record({ transactionId: hash })).json;
      ids.push(refund.id);
    }
    for (const order of ["asc", "desc"]) {
      const listed: string[] = [];
      let after = "";
      do {
        const page = await readPage(`?order=${order}${after}`);
        listed.push(...page.data.flatMap(({ refund }) => refund?.id ?? []));
        after = page.nextAfter === null ? "" : `&after=${page.nextAfter}`;
      } while (after !== "");
      expect(listed.toSorted()).toEqual(ids.toSorted());
      expect(new Set(listed).size).toBe(ids.length);
    }
    expect((await readPage("")).data).toHaveLength(50);
  });

  test.each([
    ["EVM without prefix", {}, { transactionId: "ab".repeat(32) }],
    ["EVM too short", {}, { transactionId: `0x${"ab".repeat(31)}` }],
    ["Solana with a hash", solanaPayment, { destinationAddress: solanaCustomer }],
    [
      "Bitcoin too long",
      bitcoinPayment,
      { amount: "0.001", destinationAddress: bitcoinCustomer, transactionId: "ab".repeat(33) },
    ],
  ])("rejects a transaction id of another form: %s", async (_form, payment, body) => {
    const { record, readLink } = await createPaidLink(payment);
    expect(formatResult(await record(body))).toBe("422 INVALID_TRANSACTION_ID");
    expect((await readLink()).refunds).toEqual([]);
  });

  test.each([
    ["an amount of 0", { amount: "0" }, "422 greater_than"],
    ["a negative amount", { amount: "-1" }, "422 greater_than"],
    ["an amount finer than the token", { amount: "0.0000001" }, "422 decimal_max_places"],
    [
      "an amount that no transaction can send",
      { amount: `1${"0".repeat(77)}` },
      "422 decimal_max_digits",
    ],
    ["no amount", { amount: undefined }, "422 missing"],
    ["an invalid address", { destinationAddress: "customer" }, "422 INVALID_WALLET_ADDRESS"],
    [
      "a wrong checksum",
      { destinationAddress: customer.replace("F", "f") },
      "422 INVALID_WALLET_ADDRESS",
    ],
    [
      "a private key as address",
      { destinationAddress: "ab".repeat(32) },
      "422 PRIVATE_KEY_REFUSED",
    ],
    ["no transaction id", { transactionId: undefined }, "422 missing"],
    ["another object as payment", { paymentId: newId("plink") }, "422 string_pattern_mismatch"],
    ["an unknown payment", { paymentId: newId("tx") }, "404 NOT_FOUND"],
  ])("rejects %s", async (_what, body, expected) => {
    const { account, record, readLink } = await createPaidLink();
    expect(formatResult(await record(body))).toBe(expected);
    expect((await readLink()).refunds).toEqual([]);
    expect(await rig.listAuditRecords(account.id)).toEqual([]);
  });

  test("responds to another account, and for another link's payment, as if nothing existed", async () => {
    const [own, other] = [await createPaidLink(), await createPaidLink()];
    const responses = [
      await own.record({}, other.linkId),
      await own.record({}, newId("plink")),
      await own.record({}, "none"),
      await own.record({ paymentId: other.payment.id }),
      await own.prepare({}, other.linkId),
      await own.prepare({ paymentId: other.payment.id }),
    ];
    for (const { json, status } of responses) {
      expect([status, json.errors]).toEqual([
        404,
        [{ code: "NOT_FOUND", message: expect.any(String) }],
      ]);
    }
    expect((await other.readLink()).refunds).toEqual([]);
  });

  test("is possible for payments in any token of the catalogue, but not for an unknown token", async () => {
    const wrongToken = await createPaidLink({ ...solanaPayment });
    expect((await wrongToken.readLink()).payments).toMatchObject([
      { reason: "wrong_token", token: { symbol: "USDC", chain: { id: "solana" } } },
    ]);
    const signature =
      "5VERv8NMvzbJMEkV8xnrLkEaWRtSz9CosKDYjCJjBRnbJLgp8uirBgmQpjKhoR4tjF3ZpRzrFmBV6UjKdiSZkQUW";
    const body = { destinationAddress: solanaCustomer, transactionId: signature };
    expect((await wrongToken.record(body)).json).toMatchObject({
      chainId: "solana",
      transactionId: signature,
      transactionUrl: expect.stringContaining(signature),
    });
    const unknownToken = await createPaidLink({ chainId: "12345" });
    expect(formatResult(await unknownToken.record())).toBe("404 NOT_FOUND");
  });

  test("does not change a public response or publish an event about the link", async () => {
    const { linkId, record } = await createPaidLink();
    const read = async () => [
      (await rig.call(`/v1/payment-link/${linkId}`)).text,
      (await rig.call(`/checkout/payment-links/${linkId}`)).text,
      JSON.stringify(await rig.listEvents(linkId)),
    ];
    const before = await read();
    expect((await record()).status).toBe(200);
    expect(await read()).toEqual(before);
  });
});

describe("the instructions of a refund (rule CALLER-43)", () => {
  test("are a plain transfer of the token on EVM chains", async () => {
    const { prepare } = await createPaidLink();
    const { json, status } = await prepare({ destinationAddress: customer.toLowerCase() });
    expect(status).toBe(200);
    expect(json).toMatchObject({ amount: "3", destinationAddress: customer, transaction: null });
    expect(json).toMatchObject({ wallet: "EIP-1193", chain: "8453", uri: null });
    expect(json.call).toMatchObject({ to: usdcOnBase.tokenAddress, value: "0" });
    expect(json.call.rpcUrl).toMatch(/^https:/);
    expect(decodeFunctionData({ abi: erc20Abi, data: json.call.data })).toEqual({
      functionName: "transfer",
      args: [customer, 3_000_000n],
    });
  });

  test("are the same call with the arguments of TronWeb on Tron", async () => {
    const { prepare } = await createPaidLink({ ...tronPayment });
    const { json } = await prepare({ destinationAddress: tronCustomer });
    expect(json.call).toMatchObject({
      to: tronPayment.tokenAddress,
      tron: { functionSelector: "transfer(address,uint256)", parameter: json.call.data.slice(10) },
    });
    expect(json).toMatchObject({ wallet: "TronWeb", chain: "0x2b6653dc" });
    expect(json.destinationAddress).toBe(tronCustomer);
  });

  test("are a payment URI on Bitcoin", async () => {
    const { prepare } = await createPaidLink({ ...bitcoinPayment });
    const body = { amount: "0.002", destinationAddress: bitcoinCustomer };
    const { json } = await prepare(body);
    expect(json).toMatchObject({
      wallet: "none",
      call: null,
      uri: `bitcoin:${bitcoinCustomer}?amount=0.002`,
    });
  });

  test("are an unsigned transaction of the account on Solana, if it can send the amount", async () => {
    const { prepare } = await createPaidLink({ ...solanaPayment });
    const account = "9WzDXwBbmkg8ZTbNMqUxvQRAyrZzDsGYdLVL9zYtAWWM";
    const body = { account, destinationAddress: solanaCustomer };
    expect(formatResult(await prepare(body))).toBe("503 SERVICE_UNAVAILABLE");
    const accountState = {
      blockhash: "GfVcyD4kkTrj4bKc7WA9sZCin9JDbdT4Zkd3EittNR1W",
      payerAmount: "3000000",
      isOwnerReady: false,
      isTokenProgramAccount: false,
    };
    rig.solana.accountState = accountState;
    const { json } = await prepare(body);
    const { messageBytes, signatures } = getTransactionDecoder().decode(
      Buffer.from(json.transaction, "base64"),
    );
    expect(signatures).toEqual({ [account]: null });
    const { staticAccounts } = getCompiledTransactionMessageDecoder().decode(messageBytes);
    expect(staticAccounts).toContain(solanaCustomer);
    expect(rig.solana.requests.at(-1)).toMatchObject({ payer: account, owner: solanaCustomer });
    expect((await prepare({ ...body, account: undefined })).json).toMatchObject({
      wallet: "wallet-standard",
      chain: "solana:mainnet",
      transaction: null,
    });
    expect(formatResult(await prepare({ ...body, account: "none" }))).toBe(
      "422 INVALID_WALLET_ADDRESS",
    );
    rig.solana.accountState = { ...accountState, payerAmount: "2999999" };
    expect(formatResult(await prepare(body))).toBe("409 BALANCE_TOO_LOW");
    rig.solana.accountState = { ...accountState, isTokenProgramAccount: true };
    expect(formatResult(await prepare(body))).toBe("422 SOLANA_WALLET_REQUIRED");
  });

  test("store nothing", async () => {
    const { account, prepare, readLink } = await createPaidLink();
    await prepare();
    expect((await readLink()).refunds).toEqual([]);
    expect(await rig.listAuditRecords(account.id)).toEqual([]);
  });
});
