import { type NotificationKind, notificationKinds } from "@payment-links/contracts";
import type { EmailContent, EmailLanguage, SummaryCounts } from "./email.ts";
import { type EmailText, type EmailTexts, emailTexts } from "./email-texts.ts";
import { emailTextsGerman } from "./email-texts-german.ts";

/** A complete email except for its sender, its recipient and its id. */
export type ComposedEmail = {
  subject: string;
  text: string;
  html: string;
  /** The link with which the recipient unsubscribes, if there is anything to unsubscribe from. */
  unsubscribeUrl: string | undefined;
};

type EmailContext = {
  baseUrl: string;
  language: EmailLanguage;
  /** The token of a confirmation link. */
  confirmationToken?: string;
  /** The token of the unsubscribe link. */
  unsubscribeToken?: string;
  /** What a summary replaces. */
  summaryCounts?: SummaryCounts;
};

const textCharsMax = 200;

/** Control characters, line breaks and characters that change the direction of the text. */
const unsafeCharacters = /[\p{Cc}\s\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069]+/gu;

/**
 * Returns a text as one line without control characters. Names and descriptions are part of the
 * subject, which is a header: a line break there would start another header.
 */
export const toOneLine = (text: string): string => {
  const characters = [...text.replaceAll(unsafeCharacters, " ").trim()];
  return characters.length <= textCharsMax
    ? characters.join("")
    : `${characters.slice(0, textCharsMax - 1).join("")}…`;
};

/** Composes an email as plain text and as HTML. */
export const composeEmail = (content: EmailContent, context: EmailContext): ComposedEmail => {
  const texts = context.language === "de" ? emailTextsGerman : emailTexts;
  const { subject, paragraphs, action } = composeText(content, texts, context);
  const consoleUrl = `${context.baseUrl}/console`;
  const actionUrl = `${consoleUrl}${getConsolePath(content, context)}`;
  const settingsUrl = `${consoleUrl}/account/notifications`;
  const unsubscribeUrl = `${consoleUrl}/api/unsubscribe/${context.unsubscribeToken ?? ""}`;
  // An address that gets no notifications has nothing to switch off.
  const isAboutAddress =
    content.type === "address_confirmation" || content.type === "address_removed";
  const footer = isAboutAddress ? [] : [texts.footer];
  return {
    subject: toOneLine(subject),
    text: [
      ...paragraphs,
      `${action}:\n${actionUrl}`,
      ...footer.map(
        (line) =>
          `--\n${line}\n${texts.settings}: ${settingsUrl}\n${texts.unsubscribe}: ${unsubscribeUrl}`,
      ),
      "",
    ].join("\n\n"),
    html: [
      `<!doctype html><html lang="${context.language}"><body>`,
      ...paragraphs.map((paragraph) => `<p>${escapeHtml(paragraph)}</p>`),
      `<p>${buildAnchor(actionUrl, action)}</p>`,
      ...footer.map(
        (line) =>
          `<hr><p><small>${escapeHtml(line)} ${buildAnchor(settingsUrl, texts.settings)} · ` +
          `${buildAnchor(unsubscribeUrl, texts.unsubscribe)}</small></p>`,
      ),
      "</body></html>",
    ].join("\n"),
    unsubscribeUrl: isAboutAddress ? undefined : unsubscribeUrl,
  };
};

const composeText = (
  content: EmailContent,
  texts: EmailTexts,
  { language, summaryCounts = {} }: EmailContext,
): EmailText => {
  switch (content.type) {
    case "payment_received":
      return texts.paymentReceived({ ...toPlainMoney(content), link: getLinkName(content) });
    case "payment_not_applied":
      return texts.paymentNotApplied({ ...toPlainMoney(content), link: getLinkName(content) });
    case "deposit_unmatched":
      return texts.depositUnmatched(toPlainMoney(content));
    case "endpoint_failing":
      return texts.endpointFailing({ name: toOneLine(content.name) });
    case "new_sign_in":
      return texts.newSignIn({ ...content, time: formatTime(content.at, language) });
    case "new_wallet":
      return texts.newWallet(content);
    case "address_confirmation":
      return texts.addressConfirmation();
    case "address_removed":
      return texts.addressRemoved();
    case "summary":
      return texts.summary(listCounts(summaryCounts));
  }
};

/** An unknown token or chain has only the text of another service's event. */
const toPlainMoney = <Content extends { token: string; chain: string }>(content: Content) => ({
  ...content,
  token: toOneLine(content.token),
  chain: toOneLine(content.chain),
});

const listCounts = (counts: SummaryCounts): { kind: NotificationKind; count: number }[] =>
  notificationKinds.flatMap((kind) => {
    const count = counts[kind] ?? 0;
    return count === 0 ? [] : [{ kind, count }];
  });

/** Returns a link's description, which the owner recognizes better than an id. */
const getLinkName = ({ description }: { description: string | null }): string | undefined =>
  toOneLine(description ?? "") || undefined;

const formatTime = (at: string, language: EmailLanguage): string =>
  new Intl.DateTimeFormat(language === "de" ? "de-DE" : "en-US", {
    dateStyle: "long",
    timeStyle: "long",
    timeZone: "UTC",
  }).format(new Date(at));

/** Returns the page of the console that an email is about. The token is in the fragment. */
const getConsolePath = (content: EmailContent, { confirmationToken }: EmailContext): string => {
  switch (content.type) {
    case "payment_received":
    case "payment_not_applied":
      return `/links/${encodeURIComponent(content.linkId)}`;
    case "deposit_unmatched":
      return "/deposits";
    case "endpoint_failing":
      return `/webhooks/${encodeURIComponent(content.endpointId)}`;
    case "new_sign_in":
    case "address_removed":
      return "/account/sessions";
    case "new_wallet":
      return "/account/wallets";
    case "address_confirmation":
      return `/account/notifications#confirm=${confirmationToken ?? ""}`;
    case "summary":
      return "";
  }
};

/** Returns an HTML link. */
export const buildAnchor = (url: string, label: string): string =>
  `<a href="${escapeHtml(url)}">${escapeHtml(label)}</a>`;

const htmlEntities: Readonly<Record<string, string>> = {
  "&": "&amp;",
  "<": "&lt;",
  ">": "&gt;",
  '"': "&quot;",
  "'": "&#39;",
};

/** Escapes a text for HTML. */
export const escapeHtml = (text: string): string =>
  text.replaceAll(/[&<>"']/g, (character) => htmlEntities[character] ?? character);
