import type { NotificationKind } from "@payment-links/contracts";
import type { EmailTexts } from "./email-texts.ts";

const reasons: Readonly<Record<string, string>> = {
  conflict: "sie möglicherweise dieselbe Zahlung wie eine andere zu diesem Link ist",
  wrong_token: "sie in einem anderen Token oder auf einem anderen Netzwerk erfolgte",
  wrong_destination: "sie an eine andere Adresse als die des Links ging",
  wrong_amount: "ihr Betrag mehr Dezimalstellen hat als der Token",
  completed: "der Link schon abgeschlossen war",
  expired: "der Link abgelaufen war",
  inactive: "der Link deaktiviert war",
};

const methods: Readonly<Record<string, string>> = {
  link: "einem Anmeldelink",
  siwe: "Ethereum",
  oidc: "einem Firmenkonto",
  passkey: "einem Passkey",
};

const countTexts: Readonly<Record<NotificationKind, (count: number) => string>> = {
  payment_received: (count) => `Erhaltene Zahlungen: ${count}`,
  attention_needed: (count) => `Zu prüfende Zahlungen: ${count}`,
  endpoint_failing: (count) => `Fehler von Webhook-Endpunkten: ${count}`,
  new_sign_in: (count) => `Anmeldungen: ${count}`,
  new_wallet: (count) => `Neue Wallets: ${count}`,
};

/** The German texts of the emails. */
export const emailTextsGerman: EmailTexts = {
  paymentReceived: ({ amount, token, chain, link, isLinkCompleted }) => ({
    subject: `Zahlung erhalten: ${amount} ${token}${link === undefined ? "" : ` für ${link}`}`,
    paragraphs: [
      `Sie haben ${amount} ${token} auf ${chain} erhalten.`,
      ...(link === undefined ? [] : [`Zahlungslink: ${link}`]),
      ...(isLinkCompleted ? ["Der Zahlungslink ist abgeschlossen."] : []),
    ],
    action: "Zahlungslink ansehen",
  }),
  paymentNotApplied: ({ amount, token, chain, link, reason }) => ({
    subject: `Zahlung prüfen: ${amount} ${token}${link === undefined ? "" : ` für ${link}`}`,
    paragraphs: [
      `Eine Zahlung von ${amount} ${token} auf ${chain} wurde ihrem Zahlungslink nicht gutgeschrieben${
        reasons[reason] === undefined ? "" : `, weil ${reasons[reason]}`
      }.`,
      ...(link === undefined ? [] : [`Zahlungslink: ${link}`]),
      "Prüfen Sie die Zahlung, und erstatten Sie sie oder liefern Sie die Bestellung.",
    ],
    action: "Zahlungslink ansehen",
  }),
  depositUnmatched: ({ amount, token, chain }) => ({
    subject: `Zahlung ohne Zahlungslink: ${amount} ${token}`,
    paragraphs: [
      `Sie haben ${amount} ${token} auf ${chain} erhalten. Wir konnten den Betrag keinem Zahlungslink zuordnen.`,
      "Ordnen Sie ihn einem Zahlungslink zu, oder verwerfen Sie ihn.",
    ],
    action: "Nicht zugeordnete Zahlungen ansehen",
  }),
  endpointFailing: ({ name }) => ({
    subject: `Webhook-Endpunkt nicht erreichbar: ${name}`,
    paragraphs: [
      `Wir konnten einen Webhook nicht an Ihren Endpunkt ${name} zustellen. Wir versuchen es noch mehrmals.`,
    ],
    action: "Endpunkt ansehen",
  }),
  newSignIn: ({ method, ipAddress, time }) => ({
    subject: "Neue Anmeldung bei Ihrem Konto",
    paragraphs: [
      `Jemand hat sich am ${time} mit ${methods[method] ?? method}${
        ipAddress === null ? "" : ` von der IP-Adresse ${ipAddress}`
      } bei Ihrem Konto angemeldet.`,
      "Wenn Sie das nicht waren, beenden Sie die Sitzung und prüfen Sie Ihre Anmeldemethoden.",
    ],
    action: "Sitzungen ansehen",
  }),
  newWallet: ({ walletAddress, token, chain }) => ({
    subject: `Neue Wallet für ${token} auf ${chain}`,
    paragraphs: [
      `Die Wallet ${walletAddress} wurde Ihrem Konto für ${token} auf ${chain} hinzugefügt.`,
      "Wenn Sie das nicht waren, löschen Sie die Wallet und beenden Sie alle Sitzungen.",
    ],
    action: "Wallets ansehen",
  }),
  addressConfirmation: () => ({
    subject: "E-Mail-Adresse bestätigen",
    paragraphs: [
      "Bestätigen Sie, dass Sie Benachrichtigungen an diese Adresse erhalten möchten. Der Link ist 24 Stunden gültig.",
      "Wenn Sie das nicht angefordert haben, ignorieren Sie diese E-Mail. Sie erhalten keine weitere.",
    ],
    action: "E-Mail-Adresse bestätigen",
  }),
  addressRemoved: () => ({
    subject: "Keine Benachrichtigungen mehr an diese Adresse",
    paragraphs: [
      "Die E-Mail-Adresse Ihres Kontos wurde geändert oder entfernt. Dies ist die letzte E-Mail an diese Adresse.",
      "Wenn Sie das nicht waren, melden Sie sich an, beenden Sie alle anderen Sitzungen und prüfen Sie Ihre Anmeldemethoden.",
    ],
    action: "Sitzungen ansehen",
  }),
  summary: (counts) => ({
    subject: "Weitere Benachrichtigungen der letzten Stunde",
    paragraphs: [
      "Sie hatten mehr Benachrichtigungen, als wir einzeln senden. Diese haben wir nicht gesendet:",
      ...counts.map(({ kind, count }) => countTexts[kind](count)),
    ],
    action: "Konsole öffnen",
  }),
  footer: "Sie erhalten diese E-Mail, weil Benachrichtigungen für Ihr Konto eingeschaltet sind.",
  settings: "Benachrichtigungen ändern",
  unsubscribe: "Abbestellen",
};
