import { describe, expect, test } from "@jest/globals";
import { generateDescriptor } from "@payment-links/chains/testing/generate-descriptor";
import { useRig } from "@payment-links/runtime/testing/use-rig";
import { createRig } from "../testing/create-rig.ts";
import { sampleModeAccount } from "../testing/sample-mode-account.ts";

const rig = useRig(() => createRig({ hasEmail: true }));

const createShop = () => {
  const account = sampleModeAccount();
  const keys = {
    live: rig.createKeyHeaders(account),
    test: rig.createKeyHeaders(account, { mode: "test" }),
  };
  const session = { ...rig.createSessionHeaders(account), origin: "http://127.0.0.1" };
  return { account, keys, session };
};

const post = (path: string, headers: Record<string, string>, body?: object) =>
  rig.call(path, {
    method: "POST",
    headers,
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  });

const createTestLink = async (body: object = { toAmount: "25" }) => {
  const { account, keys, session } = createShop();
  const id = await rig.createLink(keys.test, body);
  const act = (action: string, input?: object, headers: Record<string, string> = {}) =>
    post(`/v1/test/payment-link/${id}/${action}`, { ...keys.test, ...headers }, input);
  const listTypes = async () =>
    (await rig.listEvents(id)).map(({ type }) => type.replace("payment_link.", ""));
  return { account, keys, session, id, act, listTypes };
};

const getCode = ({ json, status }: { json: { errors: { code: string }[] }; status: number }) =>
  `${status} ${json.errors[0]?.code}`;

describe("POST /v1/test/payment-link/:id/pay (rule MODE-7)", () => {
  test("pays what is missing by default, and completes the link once", async () => {
    const { act, id, listTypes } = await createTestLink();
    const part = await act("pay", { amount: "10.5" });
    expect(part.json).toMatchObject({ status: "settled", applied: true, amount: "10.5" });
    expect((await act("pay", {})).json).toMatchObject({ applied: true, amount: "14.5" });
    expect((await act("pay", {})).json).toMatchObject({
      applied: false,
      reason: "completed",
      amount: "25",
      paymentLinkId: id,
    });
    expect(await rig.retrieve(id)).toMatchObject({ status: "completed", receivedAmount: "25" });
    expect(await listTypes()).toEqual([
      "created",
      "transaction.succeeded",
      "transaction.succeeded",
      "completed",
      "transaction.unapplied",
    ]);
  });

  test.each([
    [
      "late",
      { status: "settled", applied: false, reason: "expired" },
      ["snapshot", "transaction.unapplied"],
    ],
    ["wrong_token", { applied: false, reason: "wrong_token" }, ["transaction.unapplied"]],
    [
      "wrong_destination",
      { applied: false, reason: "wrong_destination" },
      ["transaction.unapplied"],
    ],
    ["wrong_amount", { applied: false, reason: "wrong_amount" }, ["transaction.unapplied"]],
    ["orphaned", { applied: true, reason: null }, ["transaction.succeeded", "completed"]],
    ["processing", { status: "processing", applied: false, reason: null }, []],
    ["failed", { status: "failed", applied: false, reason: null }, []],
  ])("simulates the outcome %s", async (outcome, expected, types) => {
    const { act, listTypes, session, id } = await createTestLink();
    const { json } = await act("pay", { outcome });
    expect(json).toMatchObject(expected);
    expect(await listTypes()).toEqual(["created", ...types]);
    const { json: link } = await rig.call(`/console/api/payment-links/${id}`, { headers: session });
    expect(link.payments).toMatchObject([{ id: json.id, simulated: true, transactionUrl: null }]);
    expect(link.payments[0].orphaned).toBe(outcome === "orphaned" ? true : undefined);
  });

  test.each([
    ["SVM", "usdc-solana-devnet", "DRpbCBMxVnDK7maPM5tGv6MvB3v1sRMC86PZ8okm21hy"],
    ["TVM", "usdt-tron-nile", "T9yD14Nj9j7xAB4dbGeiX9h8upfCg3PBbY"],
    ["BVM", "btc-testnet4", generateDescriptor("bitcoin-testnet4")],
  ] as const)("simulates every outcome on %s", async (chainType, tokenId, walletAddress) => {
    const account = sampleModeAccount();
    const testWallet = account.wallets.find(({ mode }) => mode === "test");
    if (testWallet === undefined) throw new Error("no test wallet");
    const wallets = [{ ...testWallet, chainType, tokenId, walletAddress }];
    const headers = rig.createKeyHeaders({ ...account, wallets }, { mode: "test" });
    const reasons = ["wrong_token", "wrong_destination", "wrong_amount"];
    const gaps: number[] = [];
    for (const outcome of [...reasons, "processing", "failed", "succeeded", "orphaned"]) {
      const id = await rig.createLink(headers, { toAmount: "0.5" });
      const { json } = await post(`/v1/test/payment-link/${id}/pay`, headers, { outcome });
      expect([outcome, json.reason]).toEqual([outcome, reasons.includes(outcome) ? outcome : null]);
      expect((await rig.call(`/@${account.handle}/pay/${id}`)).status).toBe(200);
      // The owner's wallet app sees no payment, so the address stays unused for it.
      const session = {
        ...rig.createSessionHeaders({ ...account, wallets }),
        origin: "http://127.0.0.1",
      };
      const { json: link } = await rig.call(`/console/api/payment-links/${id}`, {
        headers: session,
      });
      if (chainType === "BVM") gaps.push(link.addressGap);
    }
    if (chainType === "BVM") expect(gaps).toEqual(gaps.map((_gap, index) => index + 1));
  });

  test("counts the expiry before a late payment as a change of status", async () => {
    const countExpired = async (): Promise<number> => {
      const text = await rig.context.metrics.getSingleMetricAsString(
        "payment_links_transitions_total",
      );
      return Number(/from="active",to="inactive"[^}]*\} (\d+)/.exec(text)?.[1] ?? 0);
    };
    const countBefore = await countExpired();
    const { act } = await createTestLink();
    await act("pay", { outcome: "late" });
    await act("pay", { outcome: "late" });
    expect(await countExpired()).toBe(countBefore + 1);
  });

  test("ends a processing payment, which counts although the link has expired since (rule STATE-8)", async () => {
    const { act, id } = await createTestLink();
    const { json: pending } = await act("pay", { outcome: "processing" });
    rig.clock.advance(1_000);
    expect((await act("expire")).json.status).toBe("inactive");
    expect(getCode(await act("pay", { paymentId: pending.id, outcome: "late" }))).toBe("422 enum");
    expect((await act("pay", { paymentId: pending.id })).json).toMatchObject({
      id: pending.id,
      status: "settled",
      applied: true,
    });
    expect(await rig.retrieve(id)).toMatchObject({ status: "completed" });
    expect(getCode(await act("pay", { paymentId: pending.id }))).toBe("404 NOT_FOUND");
  });

  test("returns the first response for a repeated idempotency key, per link", async () => {
    const { act, listTypes } = await createTestLink();
    const headers = { "idempotency-key": "pay-1" };
    const first = await act("pay", { amount: "1" }, headers);
    expect((await act("pay", { amount: "1" }, headers)).json).toEqual(first.json);
    expect(getCode(await act("pay", { amount: "2" }, headers))).toBe("422 IDEMPOTENCY_KEY_REUSED");
    expect(await listTypes()).toEqual(["created", "transaction.succeeded"]);
    const other = await createTestLink();
    expect((await other.act("pay", { amount: "1" }, headers)).json.id).not.toBe(first.json.id);
  });

  test("counts concurrent payments one after the other", async () => {
    const { act, id } = await createTestLink();
    const responses = await Promise.all(Array.from({ length: 8 }, () => act("pay", {})));
    expect(responses.filter(({ json }) => json.applied === true)).toHaveLength(1);
    expect(await rig.retrieve(id)).toMatchObject({ receivedAmount: "25" });
  });

  test.each([
    ["a list", [], "422 model_attributes_type"],
    ["an unknown outcome", { outcome: "lost" }, "422 enum"],
    ["an amount of 0", { amount: "0" }, "422 greater_than"],
    ["too many digits", { amount: "9".repeat(79) }, "422 decimal_max_digits"],
    [
      "a payment that does not exist",
      { paymentId: "tx_00000000000000000000000000" },
      "404 NOT_FOUND",
    ],
  ])("rejects %s", async (_name, body, code) => {
    const { act } = await createTestLink();
    expect(getCode(await act("pay", body))).toBe(code);
  });
});

describe("the calls of test mode", () => {
  test.each(["pay", "expire", "deactivate"])(
    "%s needs a test key, and finds only own test links (rule MODE-7)",
    async (action) => {
      const { id, keys } = await createTestLink();
      const liveId = await rig.createLink(keys.live, { toAmount: "5" });
      const otherShop = createShop();
      const request = (linkId: string, headers: Record<string, string>) =>
        post(`/v1/test/payment-link/${linkId}/${action}`, headers, {});
      expect(getCode(await request(id, keys.live))).toBe("403 TEST_KEY_REQUIRED");
      const missingIds = ["plink_00000000000000000000000000", "nonsense", "a%00b", liveId];
      for (const missingId of missingIds)
        expect(getCode(await request(missingId, keys.test))).toBe("404 CANNOT_FIND_PAYMENT_LINK");
      expect(getCode(await request(id, otherShop.keys.test))).toBe("404 CANNOT_FIND_PAYMENT_LINK");
      expect((await rig.retrieve(liveId)).status).toBe("active");
      expect((await rig.retrieve(id)).status).toBe("active");
    },
  );

  test("end an active link once; a payment that follows has the reason (rule MODE-7)", async () => {
    for (const [action, reason] of [
      ["expire", "expired"],
      ["deactivate", "inactive"],
    ] as const) {
      const { act, id, listTypes } = await createTestLink();
      const first = await act(action);
      expect(first.json).toMatchObject({ id, status: "inactive" });
      expect((await act(action)).json).toEqual(first.json);
      expect((await act("pay", {})).json).toMatchObject({ applied: false, reason });
      const ended = action === "expire" ? "snapshot" : "deactivated";
      expect(await listTypes()).toEqual(["created", ended, "transaction.unapplied"]);
    }
    const paid = await createTestLink();
    await paid.act("pay", {});
    for (const action of ["expire", "deactivate"])
      expect(getCode(await paid.act(action))).toBe("409 PAYMENT_LINK_NOT_ACTIVE");
    expect(getCode(await paid.act("pay", { outcome: "late" }))).toBe("409 PAYMENT_LINK_NOT_ACTIVE");
  });
});

describe("a simulated payment (rule MODE-8)", () => {
  test("cannot be refunded, and has no explorer link and no receipt by email", async () => {
    const { act, id, session } = await createTestLink();
    const { json: payment } = await act("pay", {});
    const refund = {
      paymentId: payment.id,
      amount: "1",
      destinationAddress: "0x52908400098527886E0F7030069857D2E4169EE7",
      transactionId: `0x${"ab".repeat(32)}`,
    };
    for (const path of ["refunds", "refund-instructions"]) {
      const response = await post(`/console/api/payment-links/${id}/${path}`, session, refund);
      expect(getCode(response)).toBe("409 PAYMENT_SIMULATED");
    }
    const { text } = await rig.call(`/tx/${payment.id}`);
    expect(text).not.toContain("blockscout");
    expect(text).not.toContain('type="email"');
    const form = await rig.call(`/tx/${payment.id}`, {
      method: "POST",
      headers: { "content-type": "application/x-www-form-urlencoded" },
      body: "address=payer%40example.com",
    });
    expect(form.status).toBe(404);
    expect(rig.receipts.requests).toEqual([]);
  });

  test("sends no email to the owner, as no payment on a test link does (rule MODE-9)", async () => {
    const { account, act, keys } = await createTestLink();
    await act("pay", {});
    await act("pay", {});
    expect(await rig.listEvents(account.id)).toEqual([]);
    const liveId = await rig.createLink(keys.live, { toAmount: "5" });
    expect(liveId).toMatch(/^plink_/);
  });
});

describe("the pages of a test link (rule MODE-6)", () => {
  test.each([
    ["en", "Test mode. No real money."],
    ["de", "Testmodus. Kein echtes Geld."],
    ["es", "Modo de prueba. Sin dinero real."],
    ["fr", "Mode test. Pas d’argent réel."],
    ["it", "Modalità di test. Nessun denaro reale."],
    ["ja", "テストモードです。実際のお金は使われません。"],
    ["pt-BR", "Modo de teste. Sem dinheiro real."],
    ["zh-CN", "测试模式，不涉及真实资金。"],
  ])("say so once, above everything else, in %s", async (language, text) => {
    const { account, act, id, keys } = await createTestLink();
    const { json: payment } = await act("pay", { amount: "1" });
    const headers = { "accept-language": language, accept: "text/html" };
    for (const path of [`/@${account.handle}/pay/${id}`, `/tx/${payment.id}`]) {
      const page = await rig.call(path, { headers });
      expect(page.text).toContain(`<p class="test">${text}</p>`);
      expect(page.text.match(/class="test"/g)).toHaveLength(1);
    }
    const liveId = await rig.createLink(keys.live, { toAmount: "5" });
    const livePage = await rig.call(`/@${account.handle}/pay/${liveId}`, { headers });
    expect(livePage.text).not.toContain('class="test"');
  });
});
