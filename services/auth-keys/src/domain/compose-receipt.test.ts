import { describe, expect, test } from "@jest/globals";
import {
  Decimal,
  type ReceiptEmail,
  loadCatalogue,
  newId,
  receiptLanguages,
} from "@payment-links/contracts";
import { composeReceipt } from "./compose-receipt.ts";
import { receiptTexts } from "./receipt-texts.ts";

const context = { catalogue: loadCatalogue(), checkoutUrl: "https://pay.example.com" };
const transactionHash = `0x${"ab".repeat(32)}`;
const receipt: ReceiptEmail = {
  to: "payer@example.com",
  language: "en",
  paymentId: newId("tx"),
  shop: "Tea & Co",
  description: "Order 1001",
  amount: new Decimal("1234567.000000000000000001"),
  chainId: "8453",
  tokenAddress: "0x833589fCD6eDb6E08f4c7C32D4f71b54bdA02913",
  paidAt: new Date("2026-11-21T10:00:00.000Z"),
  sourceTransaction: transactionHash,
  isObserved: true,
};

describe("a receipt", () => {
  test("has the shop, the payment, its transaction and the links to the explorer and the page (rule MAIL-9)", () => {
    const { subject, text, html, unsubscribeUrl } = composeReceipt(receipt, context);
    expect(subject).toBe("Receipt: 1,234,567.000000000000000001 USDC to Tea & Co");
    const url = `https://pay.example.com/tx/${receipt.paymentId}`;
    const explorerUrl = `https://basescan.org/tx/${transactionHash}`;
    expect(text.split("\n")).toEqual(
      expect.arrayContaining([
        "You paid 1,234,567.000000000000000001 USDC to Tea & Co.",
        "Description: Order 1001",
        "Amount paid: 1,234,567.000000000000000001 USDC",
        "Network: Base",
        "Date paid: 21 November 2026 at 10:00 UTC",
        `Transaction ID: ${transactionHash}`,
        "View transaction on basescan.org:",
        explorerUrl,
        url,
      ]),
    );
    for (const href of [url, explorerUrl]) expect(html).toContain(`<a href="${href}">`);
    expect(html).toContain("to Tea &amp; Co.");
    expect(unsubscribeUrl).toBeUndefined();
  });

  test.each(receiptLanguages)("is complete in %s (rule MAIL-9)", (language) => {
    const { subject, text, html } = composeReceipt({ ...receipt, language }, context);
    expect(`${subject}${text}${html}`).not.toMatch(/undefined|null|\[object|\{\w+\}/);
    expect(html).toContain(`<html lang="${language}">`);
    for (const content of [subject, text]) {
      expect(content).toContain("Tea & Co");
      expect(content).toMatch(/1\D234\D567\D000000000000000001/);
    }
    const english = Object.values(receiptTexts.en).filter((value) => typeof value === "string");
    const untranslated = english.filter((value) => value.includes(" ") && text.includes(value));
    expect(untranslated).toHaveLength(language === "en" ? untranslated.length : 0);
  });

  test("has no explorer link for a transaction that only a provider reported (rules API-31 and MAIL-9)", () => {
    const { text, html } = composeReceipt({ ...receipt, isObserved: false }, context);
    expect(text).toContain(transactionHash);
    expect(text + html).not.toContain("basescan");
  });

  test("has no row without a value", () => {
    const bare = { ...receipt, description: null, sourceTransaction: null };
    const { text, html } = composeReceipt(bare, context);
    expect(text).not.toMatch(/Description|Transaction/);
    expect(html.match(/<tr>/g)).toHaveLength(3);
  });

  test("shows hostile texts as one line, without a link, a header or markup (rule MAIL-9)", () => {
    const hostile =
      "Win!\r\nBcc: v@evil.example\r\n\r\n<a href='https://evil.example/x'>www.evil.example</a>\u202e";
    const hostileReceipt = {
      ...receipt,
      shop: hostile,
      description: hostile,
      sourceTransaction: `${transactionHash}"><a href="https://evil.example">`,
    };
    const { subject, text, html } = composeReceipt(hostileReceipt, context);
    expect(subject).not.toMatch(/[\r\n\u202e]/);
    expect(text.split("\n").filter((line) => /^(Bcc|<a)/.test(line))).toEqual([]);
    expect(html.match(/<a /g)).toHaveLength(1);
    const description = /^Description: .*$/m.exec(text)?.[0] ?? "";
    expect(description).toContain("evil");
    // What mail programs turn into links by themselves.
    expect(description).not.toMatch(/https?:\/\/|\w\.\p{L}|@\w/u);
  });
});
