import type { NotificationKind } from "@payment-links/contracts";

type Money = { amount: string; token: string; chain: string };

/** What the texts of one email have: a subject, paragraphs, and the label of its link. */
export type EmailText = { subject: string; paragraphs: readonly string[]; action: string };

/** All texts of the emails in one language. */
export type EmailTexts = {
  paymentReceived(
    payment: Money & { link: string | undefined; isLinkCompleted: boolean },
  ): EmailText;
  paymentNotApplied(payment: Money & { link: string | undefined; reason: string }): EmailText;
  depositUnmatched(deposit: Money): EmailText;
  endpointFailing(endpoint: { name: string }): EmailText;
  newSignIn(session: { method: string; ipAddress: string | null; time: string }): EmailText;
  newWallet(wallet: { walletAddress: string; token: string; chain: string }): EmailText;
  addressConfirmation(): EmailText;
  addressRemoved(): EmailText;
  summary(counts: readonly { kind: NotificationKind; count: number }[]): EmailText;
  /** Why the recipient gets the email, and where to switch it off. */
  footer: string;
  settings: string;
  unsubscribe: string;
};

const reasons: Readonly<Record<string, string>> = {
  conflict: "it may be the same payment as another one on this link",
  wrong_token: "it was made in another token or on another network",
  wrong_destination: "it went to another address than the link's",
  wrong_amount: "its amount has more decimals than the token",
  completed: "the link was already completed",
  expired: "the link had expired",
  inactive: "the link was deactivated",
};

const methods: Readonly<Record<string, string>> = {
  link: "a sign-in link",
  siwe: "Ethereum",
  oidc: "a company account",
  passkey: "a passkey",
};

const countTexts: Readonly<Record<NotificationKind, (count: number) => string>> = {
  payment_received: (count) => `Payments received: ${count}`,
  attention_needed: (count) => `Payments that need attention: ${count}`,
  endpoint_failing: (count) => `Failing webhook endpoints: ${count}`,
  new_sign_in: (count) => `Sign-ins: ${count}`,
  new_wallet: (count) => `New wallets: ${count}`,
};

/** The English texts of the emails. */
export const emailTexts: EmailTexts = {
  paymentReceived: ({ amount, token, chain, link, isLinkCompleted }) => ({
    subject: `Payment received: ${amount} ${token}${link === undefined ? "" : ` for ${link}`}`,
    paragraphs: [
      `You received ${amount} ${token} on ${chain}.`,
      ...(link === undefined ? [] : [`Payment link: ${link}`]),
      ...(isLinkCompleted ? ["The payment link is completed."] : []),
    ],
    action: "View payment link",
  }),
  paymentNotApplied: ({ amount, token, chain, link, reason }) => ({
    subject: `Payment needs attention: ${amount} ${token}${link === undefined ? "" : ` for ${link}`}`,
    paragraphs: [
      `A payment of ${amount} ${token} on ${chain} was not credited to its payment link${
        reasons[reason] === undefined ? "" : `, because ${reasons[reason]}`
      }.`,
      ...(link === undefined ? [] : [`Payment link: ${link}`]),
      "Check the payment, and refund it or deliver the order.",
    ],
    action: "View payment link",
  }),
  depositUnmatched: ({ amount, token, chain }) => ({
    subject: `Payment without a payment link: ${amount} ${token}`,
    paragraphs: [
      `You received ${amount} ${token} on ${chain}. We couldn't match it to a payment link.`,
      "Assign it to a payment link or dismiss it.",
    ],
    action: "View unmatched payments",
  }),
  endpointFailing: ({ name }) => ({
    subject: `Webhook endpoint is failing: ${name}`,
    paragraphs: [
      `We couldn't deliver a webhook to your endpoint ${name}. We will try again several times.`,
    ],
    action: "View endpoint",
  }),
  newSignIn: ({ method, ipAddress, time }) => ({
    subject: "New sign-in to your account",
    paragraphs: [
      `Someone signed in to your account with ${methods[method] ?? method} on ${time}${
        ipAddress === null ? "" : ` from the IP address ${ipAddress}`
      }.`,
      "If this was not you, end the session and check your sign-in methods.",
    ],
    action: "View sessions",
  }),
  newWallet: ({ walletAddress, token, chain }) => ({
    subject: `New wallet added for ${token} on ${chain}`,
    paragraphs: [
      `The wallet ${walletAddress} was added to your account for ${token} on ${chain}.`,
      "If this was not you, delete the wallet and end all sessions.",
    ],
    action: "View wallets",
  }),
  addressConfirmation: () => ({
    subject: "Confirm your email address",
    paragraphs: [
      "Confirm that you want to receive notifications at this address. The link is valid for 24 hours.",
      "If you did not request this, ignore this email. You will not receive any other.",
    ],
    action: "Confirm email address",
  }),
  addressRemoved: () => ({
    subject: "Notifications are no longer sent to this address",
    paragraphs: [
      "The email address of your account was changed or removed. This is the last email to this address.",
      "If this was not you, sign in, end all other sessions and check your sign-in methods.",
    ],
    action: "View sessions",
  }),
  summary: (counts) => ({
    subject: "More notifications in the last hour",
    paragraphs: [
      "You had more notifications than we send as separate emails. These were not sent:",
      ...counts.map(({ kind, count }) => countTexts[kind](count)),
    ],
    action: "Open console",
  }),
  footer: "You receive this email because notifications are on for your account.",
  settings: "Change notifications",
  unsubscribe: "Unsubscribe",
};
