import { describe, expect, test } from "@jest/globals";
import type { ChainType } from "@payment-links/chains";
import { type Account, newId } from "@payment-links/contracts";
import { generateDescriptor } from "@payment-links/chains/testing/generate-descriptor";
import { useRig } from "@payment-links/runtime/testing/use-rig";
import { createRig } from "../testing/create-rig.ts";
import { sampleAccount, samplePaymentIdentity, sampleSettlement } from "../testing/samples.ts";
import { scanQrImage } from "../testing/scan-qr-image.ts";

const rig = useRig(() =>
  createRig({
    settlementChains: ["tron", "solana", "bitcoin", "8453", "1"],
    transferChains: ["8453"],
  }),
);

const families: [tokenId: string, chainType: ChainType, walletAddress: string][] = [
  ["usdc-base", "EVM", "0x52908400098527886E0F7030069857D2E4169EE7"],
  ["usdc-ethereum", "EVM", "0x52908400098527886E0F7030069857D2E4169EE7"],
  ["usdt-tron", "TVM", "TJRyWwFs9wTFGZg3JbrVriFbNfCug5tDeC"],
  ["usdc-solana", "SVM", "9WzDXwBbmkg8ZTbNMqUxvQRAyrZzDsGYdLVL9zYtAWWM"],
  ["btc", "BVM", generateDescriptor()],
];

const createAccount = (tokenId: string, overrides: Partial<Account> = {}): Account => {
  const [, chainType, walletAddress] = families.find(([id]) => id === tokenId) ?? [];
  if (chainType === undefined || walletAddress === undefined)
    throw new Error("unknown chain family");
  const defaults = { isDefault: true, isChainDefault: true, provider: null };
  return sampleAccount({
    wallets: [{ id: newId("wallet"), walletAddress, tokenId, chainType, ...defaults }],
    ...overrides,
  });
};

/** Creates a link for 0.25 of a token and returns its checkout. */
const createCheckout = async (tokenId: string, body: object = {}) => {
  const account = createAccount(tokenId);
  const id = await rig.createLink(rig.createKeyHeaders(account), { toAmount: "0.25", ...body });
  const path = `/@${account.handle}/pay/${id}`;
  const { json } = await rig.call(`/checkout/payment-links/${id}`);
  return { id, path, ...json, page: (await rig.call(path)).text };
};

/** Returns the text of a page without its markup. */
const toPlainText = (page: string): string =>
  page
    .replaceAll(/<[^>]*>/g, "")
    .replaceAll("&#39;", "'")
    .replaceAll(/\s+/g, " ");

describe("the checkout outside EVM", () => {
  test.each(["usdc-solana", "btc"])(
    "%s: the longest name and description fit into a QR code",
    async (tokenId) => {
      const keyHeaders = rig.createKeyHeaders(
        createAccount(tokenId, { username: "😀".repeat(100) }),
      );
      const body = { toAmount: "0.25", description: "😀".repeat(500) };
      const id = await rig.createLink(keyHeaders, body);
      const { headers, status } = await rig.call(`/checkout/qr/${id}/payment.svg`);
      expect([status, headers.get("content-type")]).toEqual([200, "image/svg+xml; charset=utf-8"]);
    },
  );

  test("Tron: offers two calls to base58check addresses with their cost limits", async () => {
    const { instructions, page, path } = await createCheckout("usdt-tron");
    expect(instructions).toMatchObject({
      amount: "0.25",
      amountBaseUnits: "250000",
      proxyAddress: "TCUDPYnS9dH3WvFEaE7wN7vnDa51J4R4fd",
    });
    expect(instructions.steps).toEqual([
      expect.objectContaining({ kind: "approve", to: "TR7NHqjeKQxGTCi8q8ZY4pL8otSzgjLj6t" }),
      expect.objectContaining({ kind: "pay", to: instructions.proxyAddress }),
    ]);
    const [approve] = instructions.steps;
    expect(approve).toEqual({
      kind: "approve",
      to: "TR7NHqjeKQxGTCi8q8ZY4pL8otSzgjLj6t",
      value: "0",
      data: expect.stringMatching(/^0x095ea7b3[0-9a-f]{128}$/),
      tron: {
        functionSelector: "approve(address,uint256)",
        parameter: approve.data.slice(10),
        energyMax: 120_000,
        feeLimit: "50400000",
      },
    });
    expect(page).toContain("520000 energy");
    expect(page).toContain("up to 219 TRX");
    expect(page).toContain(approve.data);
    expect(page).toContain("/checkout/assets/tron.js");
    expect(page).not.toContain("checkout.js");
    // Wallets call their nodes from within the page, so the policy has to allow these hosts. On a
    // phone, the link opens TronLink.
    const { headers } = await rig.call(path);
    const policy = headers.get("content-security-policy");
    expect(policy).toContain("connect-src 'self' https://api.trongrid.io;");
    // The console sends refunds with the same wallets, but offers no public node of an EVM chain.
    const consolePage = await rig.call("/console");
    expect(consolePage.headers.get("content-security-policy")).toContain(
      "connect-src 'self' https://api.trongrid.io;",
    );
    const deepLinkParameters = {
      url: `https://pay.example${path}`,
      action: "open",
      protocol: "TronLink",
      version: "1.0",
    };
    const encodedParameters = encodeURIComponent(JSON.stringify(deepLinkParameters));
    expect(page).toContain(`href="tronlinkoutside://pull.activity?param=${encodedParameters}"`);
    expect(page).not.toContain("metamask");
  });

  test.each([
    ["usdc-solana", "transferRequestUrl"],
    ["btc", "uri"],
  ])(
    "%s: shows a payment URI that a wallet opens or scans, as a link and as a QR code (rule CHAIN-10)",
    async (tokenId, uriField) => {
      const description = "Order 7 & <b>more</b>";
      const { id, instructions, page, ...link } = await createCheckout(tokenId, { description });
      const uri: string = instructions[uriField];
      expect(uri).toMatch(/^(solana|bitcoin):[\x21-\x7e]+$/);
      expect(new URL(uri).searchParams.get("amount")).toBe("0.25");
      expect(new URL(uri).searchParams.get("message")).toBe(description);
      expect(new URL(uri).pathname).toBe(link.destinationAddress);
      // The attribute is HTML-escaped, because text from a user must not become markup.
      expect(page).toContain(`href="${uri.replaceAll("&", "&amp;").replaceAll("'", "&#39;")}"`);
      const image = await rig.call(`/checkout/qr/${id}/payment.svg`);
      expect(image.status).toBe(200);
      expect(image.headers.get("cache-control")).toBe("no-store");
      expect(image.headers.get("content-security-policy")).toBe("default-src 'none'");
      expect(scanQrImage(image.text).text).toBe(uri);
      expect(page).toContain(`src="/checkout/qr/${id}/payment.svg"`);
    },
  );

  test("Solana: shows the transaction request first and the transfer request after it", async () => {
    const { id, instructions, page } = await createCheckout("usdc-solana");
    const request = `solana:https://pay.example/checkout/solana/${id}`;
    expect(instructions.transactionRequestUrl).toBe(request);
    const transferUrl = instructions.transferRequestUrl.replaceAll("&", "&amp;");
    const textPositions = [
      `class="primary" href="${request}"`,
      `href="https://phantom.app/ul/browse/`,
      `href="https://solflare.com/ul/v1/browse/https%3A%2F%2Fpay.example%2F`,
      "Wallet not opening?",
      `href="${transferUrl.replaceAll("'", "&#39;")}"`,
      `src="/checkout/qr/${id}/payment.svg"`,
      `src="/checkout/qr/${id}/request.svg"`,
    ].map((text) => page.indexOf(text));
    expect(textPositions).toEqual(textPositions.toSorted((a, b) => a - b));
    expect(textPositions[0]).toBeGreaterThan(0);
    // Wallet apps of other chains are not offered.
    expect(page).not.toContain("metamask");
    const image = await rig.call(`/checkout/qr/${id}/request.svg`);
    expect(scanQrImage(image.text).text).toBe(request);
    expect(image.headers.get("cache-control")).toBe("no-store");
  });

  test.each([
    ["usdc-base", "USDC", "Base", "Send the seller your transaction ID"],
    ["btc", "BTC", "Bitcoin", "This link is paid once the network confirms the payment."],
  ])(
    "%s: explains to exchange users what to do and what happens next",
    async (tokenId, symbol, network, expectedOutcome) => {
      const { destinationAddress, page, path } = await createCheckout(tokenId);
      const plainText = toPlainText(page);
      expect(plainText).toContain(
        `withdraw ${symbol} to this address on the ${network} network, without a memo. Exactly 0.25 ` +
          `${symbol} must arrive, after the exchange's fee. Amount 0.25 ${symbol}`,
      );
      expect(page).toContain(`<code>${destinationAddress}</code>`);
      expect(plainText).toContain(expectedOutcome);
      const germanResponse = await rig.call(path, { headers: { "accept-language": "de" } });
      expect(toPlainText(germanResponse.text)).toContain(
        `${symbol} im Netzwerk ${network} an diese Adresse aus, ohne Memo. Nach Abzug der Gebühr der Börse müssen genau 0,25 ${symbol} ankommen.`,
      );
    },
  );

  test.each(["usdc-ethereum", "usdt-tron", "usdc-solana"])(
    "%s: asks exchange users to use their own wallet if direct transfers are not tracked",
    async (tokenId) => {
      const { page, path } = await createCheckout(tokenId);
      expect(toPlainText(page)).toContain(
        "Withdraw to your own wallet first, then pay from there.",
      );
      expect(toPlainText(page)).not.toContain("without a memo");
      const germanResponse = await rig.call(path, { headers: { "accept-language": "de" } });
      expect(toPlainText(germanResponse.text)).toContain(
        "eigene Wallet aus und zahlen Sie dann von dort.",
      );
    },
  );

  test("a pending payment is shown with the advice not to pay again (rule CHAIN-13)", async () => {
    const { id, path, destinationAddress } = await createCheckout("btc");
    await rig.settle(
      sampleSettlement(id, {
        status: "processing",
        amount: "0.25",
        chainId: "bitcoin",
        tokenAddress: "BTC",
        destinationAddress,
      }),
    );
    const { text } = await rig.call(path);
    expect(text).toMatch(/0\.25<\/data>\s+BTC detected\. Do not pay again\./);
    const germanResponse = await rig.call(path, { headers: { "accept-language": "de" } });
    expect(germanResponse.text).toMatch(/0,25<\/data>\s+BTC erkannt\./);
    expect(germanResponse.text).not.toContain("Diese Adresse ist nur für diesen Link.");
  });

  // Guards against payments that the payer never sees because the wallet put the change output
  // first.
  test("Bitcoin: finds the payment of a transaction at any output index", async () => {
    const { id, destinationAddress } = await createCheckout("btc");
    const otherCheckout = await createCheckout("btc");
    const transactionHash = "ab".repeat(32);
    const fetchPayment = async (hash: string) => {
      const path = `/checkout/payment-links/${id}?sourceTransaction=${hash}`;
      return (await rig.call(path)).json.payment;
    };
    const createOutputPayment = (linkId: string, number: number) =>
      sampleSettlement(linkId, {
        ...samplePaymentIdentity({ chainId: "bitcoin", transactionHash, linkId, number }),
        status: "processing",
        amount: "0.25",
        chainId: "bitcoin",
        tokenAddress: "BTC",
        destinationAddress,
      });
    await rig.settle(createOutputPayment(otherCheckout.id, 0));
    expect(await fetchPayment(transactionHash)).toBeNull();
    const secondOutput = createOutputPayment(id, 1);
    await rig.settle(secondOutput);
    const paymentResponse = await fetchPayment(transactionHash);
    expect(paymentResponse).toEqual(
      (await rig.call(`/checkout/transactions/${secondOutput.id}`)).json,
    );
    expect(paymentResponse).toMatchObject({ id: secondOutput.id, status: "processing" });
    await rig.settle(createOutputPayment(id, 12));
    expect(await fetchPayment(transactionHash)).toEqual(paymentResponse);
    expect(await fetchPayment("cd".repeat(32))).toBeNull();
    expect(await fetchPayment(transactionHash.slice(1))).toBeNull();
    expect(await fetchPayment(transactionHash.slice(0, -1))).toBeNull();
  });

  test("no payment URI and no QR code exist if there is no payment request (rule CHAIN-10)", async () => {
    const tronCheckout = await createCheckout("usdt-tron");
    expect((await rig.call(`/checkout/qr/${tronCheckout.id}/payment.svg`)).status).toBe(404);
    const paidCheckout = await createCheckout("btc");
    await rig.settle(
      sampleSettlement(paidCheckout.id, {
        amount: "0.25",
        chainId: "bitcoin",
        tokenAddress: "BTC",
        destinationAddress: paidCheckout.destinationAddress,
      }),
    );
    const { json } = await rig.call(`/checkout/payment-links/${paidCheckout.id}`);
    expect(json).toMatchObject({ instructions: null, reason: "completed" });
    for (const id of [paidCheckout.id, "plink_01m7y4kb9sfvktcnzb0r3g9a0s", "x"]) {
      expect((await rig.call(`/checkout/qr/${id}/payment.svg`)).status).toBe(404);
    }
  });

  test("a chain that is not watched is reported as the reason in every family", async () => {
    const otherRig = await createRig({ settlementChains: ["10"] });
    try {
      for (const [tokenId] of families) {
        const account = createAccount(tokenId);
        const id = await otherRig.createLink(otherRig.createKeyHeaders(account), {
          toAmount: "0.25",
        });
        const { json } = await otherRig.call(`/checkout/payment-links/${id}`);
        expect(json).toMatchObject({ instructions: null, reason: "chain_not_watched" });
        expect((await otherRig.call(`/checkout/qr/${id}/payment.svg`)).status).toBe(404);
      }
    } finally {
      await otherRig.close();
    }
  });
});

// Guards against code that builds instructions without the tracked chains. No other test would
// detect it.
test.each([
  ["usdc-base", ["batch", "suffix", "approve_and_pay"]],
  ["usdc-ethereum", ["batch", "approve_and_pay"]],
])(
  "for %s, offers a suffix transfer only if direct transfers are tracked",
  async (tokenId, kinds) => {
    const { instructions } = await createCheckout(tokenId, { toAmount: "25" });
    expect(instructions.ways.map(({ kind }: { kind: string }) => kind)).toEqual(kinds);
  },
);
