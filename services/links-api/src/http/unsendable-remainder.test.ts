import { describe, expect, test } from "@jest/globals";
import { type Account, newId } from "@payment-links/contracts";
import { drawDescriptor } from "@payment-links/contracts/testing/draw-descriptor";
import { useRig } from "@payment-links/runtime/testing/use-rig";
import { openRig } from "../testing/open-rig.ts";
import { sampleAccount, sampleSettlement } from "../testing/samples.ts";

const rig = useRig(() => openRig({ settlementChains: ["bitcoin", "8453"] }));

const openShop = () => {
  const account: Account = sampleAccount({
    wallets: [
      {
        id: newId("wallet"),
        walletAddress: drawDescriptor(),
        tokenId: "btc",
        chainType: "BVM",
        isDefault: true,
        isChainDefault: true,
        provider: null,
      },
    ],
  });
  const key = rig.giveKey(account);
  const session = rig.giveSession(account);
  return {
    handle: account.handle,
    key,
    session,
    create: (toAmount: string) => rig.createLink(key, { toAmount }),
    read: async (id: string) =>
      (await rig.call(`/console/api/payment-links/${id}`, { headers: session })).json,
    page: async (id: string, language: string) =>
      (
        await rig.call(`/@${account.handle}/pay/${id}`, {
          headers: { accept: "text/html", "accept-language": language },
        })
      ).text
        .replaceAll(/<[^>]+>|\s+/g, " ")
        .replaceAll(/\s+/g, " "),
    pay: async (id: string, amount: string) =>
      rig.settle(
        sampleSettlement(id, {
          amount,
          chainId: "bitcoin",
          tokenAddress: "BTC",
          destinationAddress: (await rig.retrieve(id)).destinationAddress,
        }),
      ),
  };
};

describe("a link whose remainder is too small for its chain", () => {
  test("tells its owner what is missing and that it cannot be sent, and can be deactivated (rule STATE-16)", async () => {
    const shop = openShop();
    const id = await shop.create("0.001");
    await shop.pay(id, "0.00099999");
    expect(await shop.read(id)).toMatchObject({
      status: "active",
      unsendableRemainder: { amount: "0.00000001", smallestPayment: "0.00000546" },
    });
    const answer = await rig.call(`/console/api/payment-links/${id}/deactivate`, {
      method: "POST",
      headers: { ...shop.session, origin: "http://127.0.0.1" },
    });
    expect(answer.status).toBe(200);
    expect(await shop.read(id)).not.toHaveProperty("unsendableRemainder");
  });

  test("tells its payer the same, in each language", async () => {
    const shop = openShop();
    const id = await shop.create("0.001");
    await shop.pay(id, "0.00099999");
    const english = await shop.page(id, "en");
    expect(english).toContain(
      "The missing 0.00000001 BTC is too small to be sent on Bitcoin. Send nothing more, and ask the owner to close this payment link.",
    );
    expect(await shop.page(id, "de")).toContain("0,00000001 BTC sind zu wenig");
    const checkout = (await rig.call(`/checkout/payment-links/${id}`)).json;
    expect(checkout).toMatchObject({
      status: "active",
      remainingAmount: "0.00000001",
      instructions: null,
      reason: "amount_not_payable",
    });
  });

  test("is told so only below the smallest payment", async () => {
    const shop = openShop();
    const id = await shop.create("0.001");
    expect(await shop.read(id)).not.toHaveProperty("unsendableRemainder");
    await shop.pay(id, "0.00099454");
    expect(await shop.read(id)).not.toHaveProperty("unsendableRemainder");
    expect(await shop.page(id, "en")).not.toContain("too small");
  });
});

describe("creating a link on Bitcoin", () => {
  const create = async (toAmount: string, call: (body: string) => ReturnType<typeof rig.call>) => {
    const { json, status } = await call(JSON.stringify({ toAmount }));
    return [status, json.errors?.[0]?.code];
  };

  test.each(["0.00000545", "0.00000001", "21000000.00000001"])(
    "of %s, which no payment can have, is rejected here and in the console (rule API-36)",
    async (toAmount) => {
      const shop = openShop();
      const rejected = [422, "AMOUNT_NOT_PAYABLE"];
      const byKey = (body: string) =>
        rig.call("/v1/payment-link", { method: "POST", headers: shop.key, body });
      expect(await create(toAmount, byKey)).toEqual(rejected);
      const headers = { ...shop.session, origin: "http://127.0.0.1" };
      const byPerson = (body: string) =>
        rig.call("/console/api/payment-links", { method: "POST", headers, body });
      expect(await create(toAmount, byPerson)).toEqual(rejected);
    },
  );

  test.each(["0.00000546", "21000000"])("of %s makes a link", async (toAmount) => {
    const shop = openShop();
    expect((await rig.retrieve(await shop.create(toAmount))).toAmount).toBe(toAmount);
  });

  test("of an amount finer than a satoshi is rejected by its precision first", async () => {
    const shop = openShop();
    const answer = await rig.call("/v1/payment-link", {
      method: "POST",
      headers: shop.key,
      body: '{"toAmount":"0.000000001"}',
    });
    expect(answer.json.errors[0].code).toBe("INVALID_PAYMENT_LINK_AMOUNT");
  });
});
