import { buildExplorerUrl } from "@payment-links/chains";
import {
  type Catalogue,
  type ReceiptEmail,
  buildTransactionPageUrl,
} from "@payment-links/contracts";
import { type ComposedEmail, buildAnchor, escapeHtml, toOneLine } from "./compose-email.ts";
import { describeMoney } from "./email-content.ts";
import { receiptTexts } from "./receipt-texts.ts";

export type ReceiptContext = {
  catalogue: Pick<Catalogue, "chains" | "findTokenByAddress">;
  checkoutUrl: string;
};

/** Composes the receipt of a payment. The shop wrote its name and the description. */
export const composeReceipt = (
  receipt: ReceiptEmail,
  { catalogue, checkoutUrl }: ReceiptContext,
): ComposedEmail => {
  const texts = receiptTexts[receipt.language];
  const { locale } = texts;
  const { token: symbol, chain } = describeMoney(catalogue, receipt);
  const token = toOneLine(symbol);
  const amount = formatNumber(receipt.amount.toFixed(), locale);
  const shop = toOneLine(receipt.shop);
  const description = withoutLinks(toOneLine(receipt.description ?? ""));
  const { sourceTransaction } = receipt;
  const rows = [
    { label: texts.description, value: description },
    { label: texts.amount, value: `${amount} ${token}` },
    { label: texts.network, value: toOneLine(chain) },
    { label: texts.paidAt, value: formatTime(receipt.paidAt, locale) },
    { label: texts.transactionId, value: toOneLine(sourceTransaction ?? "") },
  ].filter(({ value }) => value !== "");
  const links = [
    ...listExplorerLinks(receipt, catalogue),
    { label: texts.action, url: buildTransactionPageUrl(checkoutUrl, receipt.paymentId) },
  ];
  const introduction = texts.introduction({ amount, token, shop: withoutLinks(shop) });
  return {
    subject: texts.subject({ amount, token, shop }),
    text: [
      introduction,
      rows.map(({ label, value }) => `${label}: ${value}`).join("\n"),
      ...links.map(({ label, url }) => `${label}:\n${url}`),
      `--\n${texts.footer}`,
      "",
    ].join("\n\n"),
    html: [
      `<!doctype html><html lang="${receipt.language}"><body>`,
      `<p>${escapeHtml(introduction)}</p>`,
      "<table>",
      ...rows.map(
        ({ label, value }) =>
          `<tr><th align="left">${escapeHtml(label)}</th><td>${escapeHtml(value)}</td></tr>`,
      ),
      "</table>",
      ...links.map(({ label, url }) => `<p>${buildAnchor(url, label)}</p>`),
      `<hr><p><small>${escapeHtml(texts.footer)}</small></p>`,
      "</body></html>",
    ].join("\n"),
    unsubscribeUrl: undefined,
  };
};

const listExplorerLinks = (
  { chainId, isObserved, language, sourceTransaction }: ReceiptEmail,
  { chains }: ReceiptContext["catalogue"],
): { label: string; url: string }[] => {
  const chain = chains.find(({ id }) => id === chainId);
  if (chain === undefined || !isObserved || sourceTransaction === null) return [];
  const url = buildExplorerUrl(chain, sourceTransaction);
  return url === undefined
    ? []
    : [{ label: receiptTexts[language].explorer(new URL(url).host), url }];
};

/**
 * Mail programs turn web and email addresses in a text into links. An invisible space after the
 * characters by which they recognize an address prevents this.
 */
const withoutLinks = (text: string): string =>
  text.replaceAll(/(?<=\.)(?=\p{L})|(?<=@)(?=.)|(?<=:)(?=\/\/)/gu, "\u200b");

/** Formats a decimal exactly. Converting it to a number would lose digits. */
const formatNumber = (decimal: string, locale: string): string =>
  new Intl.NumberFormat(locale, { maximumFractionDigits: 100 }).format(decimal as `${number}`);

const formatTime = (instant: Date, locale: string): string => {
  const format = { dateStyle: "long", timeStyle: "short", timeZone: "UTC" } as const;
  return `${new Intl.DateTimeFormat(locale, format).format(instant)} UTC`;
};
