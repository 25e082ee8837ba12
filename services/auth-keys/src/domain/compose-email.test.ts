import { describe, expect, test } from "@jest/globals";
import { notificationKinds } from "@payment-links/contracts";
import { composeEmail, toOneLine } from "./compose-email.ts";
import type { EmailContent } from "./email.ts";

const baseUrl = "https://pay.example.com";
const money = { amount: "25.5", token: "USDC", chain: "Base" };
const link = { linkId: "plink_1", description: "Order 1001" };
const payment: EmailContent = {
  type: "payment_received",
  ...money,
  ...link,
  isLinkCompleted: true,
};

const contents: readonly EmailContent[] = [
  payment,
  { type: "payment_not_applied", ...money, ...link, reason: "expired" },
  { type: "deposit_unmatched", ...money },
  { type: "endpoint_failing", endpointId: "whe_1", name: "shop" },
  { type: "new_sign_in", method: "passkey", ipAddress: "192.0.2.7", at: "2026-11-21T10:00:00Z" },
  { type: "new_wallet", walletAddress: "0x1", token: "USDC", chain: "Base" },
  { type: "address_confirmation", address: "a@example.com" },
  { type: "address_removed", address: "a@example.com" },
  { type: "summary", hour: "2026-11-21T10:00:00Z" },
];

describe("an email", () => {
  test("says what was received and links to it", () => {
    const { subject, text, html } = composeEmail(payment, { baseUrl, language: "en" });
    expect(subject).toBe("Payment received: 25.5 USDC for Order 1001");
    expect(text).toContain("You received 25.5 USDC on Base.");
    expect(text).toContain("The payment link is completed.");
    expect(text).toContain("https://pay.example.com/console/links/plink_1");
    expect(html).toContain('<a href="https://pay.example.com/console/links/plink_1">');
  });

  test.each(["en", "de"] as const)(
    "has a subject, a link, the settings and an unsubscribe link in %s, whatever it is about (rules MAIL-6 and MAIL-7)",
    (language) => {
      for (const content of contents) {
        const email = composeEmail(content, {
          baseUrl,
          language,
          confirmationToken: "token",
          unsubscribeToken: "other",
          summaryCounts: Object.fromEntries(notificationKinds.map((kind) => [kind, 3])),
        });
        const isAboutAddress = content.type.startsWith("address_");
        expect(email.subject).not.toBe("");
        expect(email.text + email.html + email.subject).not.toMatch(/undefined|null|\[object/);
        expect(email.text).toMatch(/https:\/\/pay\.example\.com\/console/);
        expect(email.html).toContain(`<html lang="${language}">`);
        expect([content.type, email.unsubscribeUrl]).toEqual([
          content.type,
          isAboutAddress ? undefined : `${baseUrl}/console/api/unsubscribe/other`,
        ]);
        for (const url of [`${baseUrl}/console/account/notifications`, email.unsubscribeUrl]) {
          expect(email.text.includes(`: ${url}\n`)).toBe(!isAboutAddress);
          expect(email.html.includes(`<a href="${url}">`)).toBe(!isAboutAddress);
        }
      }
    },
  );

  test("is in German for a German address (rule MAIL-6)", () => {
    const { subject } = composeEmail(payment, { baseUrl, language: "de" });
    expect(subject).toBe("Zahlung erhalten: 25.5 USDC für Order 1001");
  });

  test("shows a hostile description as one line of text, without a link or a header (rule MAIL-6)", () => {
    const description = `a\r\nBcc: victim@example.com\r\n\r\n<a href="https://evil.example">x</a>\u2028\u202e`;
    const { subject, html, text } = composeEmail(
      { ...payment, description },
      { baseUrl, language: "en" },
    );
    expect(subject).not.toMatch(/[\r\n\u2028\u202e]/);
    expect(text.split("\n").filter((line) => line.startsWith("Bcc"))).toEqual([]);
    expect(html).toContain("&lt;a href=&quot;https://evil.example&quot;&gt;");
    expect(html.match(/<a /g)).toHaveLength(3);
  });

  test("says why a payment does not count, even for a reason that it does not know", () => {
    const content = { type: "payment_not_applied", ...money, ...link } as const;
    const getText = (reason: string) =>
      composeEmail({ ...content, reason }, { baseUrl, language: "en" }).text;
    expect(getText("expired")).toContain("because the link had expired.");
    expect(getText("new_reason")).toContain("was not credited to its payment link.");
  });
});

test("a long text is cut at a whole character", () => {
  expect([...toOneLine("😀".repeat(300))]).toHaveLength(200);
  expect(toOneLine("😀".repeat(300)).isWellFormed()).toBe(true);
});
