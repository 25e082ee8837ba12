import { describe, expect, test } from "@jest/globals";
import { type Account, newId } from "@payment-links/contracts";
import { generateDescriptor } from "@payment-links/chains/testing/generate-descriptor";
import { useRig } from "@payment-links/runtime/testing/use-rig";
import { createRig } from "../testing/create-rig.ts";
import { sampleAccount, sampleSettlement } from "../testing/samples.ts";

const rig = useRig(() => createRig({ settlementChains: ["bitcoin", "8453"] }));

const createShop = () => {
  const account: Account = sampleAccount({
    wallets: [
      {
        id: newId("wallet"),
        walletAddress: generateDescriptor(),
        tokenId: "btc",
        chainType: "BVM",
        isDefault: true,
        isChainDefault: true,
        provider: null,
      },
    ],
  });
  const keyHeaders = rig.createKeyHeaders(account);
  const sessionHeaders = rig.createSessionHeaders(account);
  return {
    handle: account.handle,
    keyHeaders,
    sessionHeaders,
    createLink: (toAmount: string) => rig.createLink(keyHeaders, { toAmount }),
    readLink: async (id: string) =>
      (await rig.call(`/console/api/payment-links/${id}`, { headers: sessionHeaders })).json,
    readPage: async (id: string, language: string) =>
      (
        await rig.call(`/@${account.handle}/pay/${id}`, {
          headers: { accept: "text/html", "accept-language": language },
        })
      ).text
        .replaceAll(/<[^>]+>|\s+/g, " ")
        .replaceAll(/\s+/g, " "),
    settlePayment: async (id: string, amount: string) =>
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

describe("a link whose remaining amount is too small for its chain", () => {
  test("shows the owner the remaining amount and that it cannot be sent, and can be deactivated (rule STATE-16)", async () => {
    const shop = createShop();
    const id = await shop.createLink("0.001");
    await shop.settlePayment(id, "0.00099999");
    expect(await shop.readLink(id)).toMatchObject({
      status: "active",
      unsendableRemainder: { amount: "0.00000001", smallestPayment: "0.00000546" },
    });
    const response = await rig.call(`/console/api/payment-links/${id}/deactivate`, {
      method: "POST",
      headers: { ...shop.sessionHeaders, origin: "http://127.0.0.1" },
    });
    expect(response.status).toBe(200);
    expect(await shop.readLink(id)).not.toHaveProperty("unsendableRemainder");
  });

  test("shows the same to payers, in each language", async () => {
    const shop = createShop();
    const id = await shop.createLink("0.001");
    await shop.settlePayment(id, "0.00099999");
    const englishPage = await shop.readPage(id, "en");
    expect(englishPage).toContain(
      "The remaining 0.00000001 BTC is too small to send on Bitcoin. Do not send anything more. Ask the seller to close this link.",
    );
    expect(await shop.readPage(id, "de")).toContain("0,00000001 BTC sind zu wenig");
    const checkoutResponse = (await rig.call(`/checkout/payment-links/${id}`)).json;
    expect(checkoutResponse).toMatchObject({
      status: "active",
      remainingAmount: "0.00000001",
      instructions: null,
      reason: "amount_not_payable",
    });
  });

  test("shows this only below the smallest payment", async () => {
    const shop = createShop();
    const id = await shop.createLink("0.001");
    expect(await shop.readLink(id)).not.toHaveProperty("unsendableRemainder");
    await shop.settlePayment(id, "0.00099454");
    expect(await shop.readLink(id)).not.toHaveProperty("unsendableRemainder");
    expect(await shop.readPage(id, "en")).not.toContain("too small");
  });
});

describe("a link on Bitcoin", () => {
  const createLink = async (
    toAmount: string,
    sendRequest: (body: string) => ReturnType<typeof rig.call>,
  ) => {
    const { json, status } = await sendRequest(JSON.stringify({ toAmount }));
    return [status, json.errors?.[0]?.code];
  };

  test.each(["0.00000545", "0.00000001", "21000000.00000001"])(
    "for %s, which no payment can have, is rejected by the API and in the console (rule API-36)",
    async (toAmount) => {
      const shop = createShop();
      const expectedRejection = [422, "AMOUNT_NOT_PAYABLE"];
      const createWithKey = (body: string) =>
        rig.call("/v1/payment-link", { method: "POST", headers: shop.keyHeaders, body });
      expect(await createLink(toAmount, createWithKey)).toEqual(expectedRejection);
      const headers = { ...shop.sessionHeaders, origin: "http://127.0.0.1" };
      const createWithSession = (body: string) =>
        rig.call("/console/api/payment-links", { method: "POST", headers, body });
      expect(await createLink(toAmount, createWithSession)).toEqual(expectedRejection);
    },
  );

  test.each(["0.00000546", "21000000"])("for %s is created", async (toAmount) => {
    const shop = createShop();
    expect((await rig.retrieve(await shop.createLink(toAmount))).toAmount).toBe(toAmount);
  });

  test("with an amount finer than a satoshi is rejected for its precision first", async () => {
    const shop = createShop();
    const response = await rig.call("/v1/payment-link", {
      method: "POST",
      headers: shop.keyHeaders,
      body: '{"toAmount":"0.000000001"}',
    });
    expect(response.json.errors[0].code).toBe("INVALID_PAYMENT_LINK_AMOUNT");
  });
});
