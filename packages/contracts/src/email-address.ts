import * as z from "zod";

/** The maximum length of an address in SMTP (RFC 5321). */
const emailAddressLengthMax = 254;

const domainLabel = "[A-Za-z0-9](?:[A-Za-z0-9-]{0,61}[A-Za-z0-9])?";

/**
 * An email address in ASCII. Quoted local parts, comments and address literals are rejected: no
 * owner needs them, and mail servers parse them differently.
 */
export const emailAddressPattern = new RegExp(
  `^[A-Za-z0-9!#$%&'*+/=?^_\`{|}~-]+(?:\\.[A-Za-z0-9!#$%&'*+/=?^_\`{|}~-]+)*@(?:${domainLabel}\\.)+${domainLabel}$`,
);

/** Returns whether a text is an address that notifications can be sent to. */
export const isEmailAddress = (text: string): boolean =>
  text.length <= emailAddressLengthMax && emailAddressPattern.test(text);

/** The sender of emails: an address and an optional name. */
export type EmailSender = { name: string; address: string };

const namedSenderPattern = /^(?<name>[^\p{C}<>",;:\\@]{1,100}?) ?<(?<address>[^<>]+)>$/u;

/**
 * Parses `SMTP_FROM`, such as `shop@example.com` or `Example Shop <shop@example.com>`. If it is
 * set, services publish notifications, and auth-keys sends them.
 */
export const SmtpFrom = z.string().transform((text, context): EmailSender => {
  const { name = "", address = text } = namedSenderPattern.exec(text)?.groups ?? {};
  if (isEmailAddress(address)) return { name, address };
  const message = "must be an email address, such as a@example.com or Name <a@example.com>";
  context.addIssue({ code: "custom", message });
  return z.NEVER;
});
