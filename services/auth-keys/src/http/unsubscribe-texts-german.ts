import type { UnsubscribeTexts } from "./unsubscribe-texts.ts";
import { pageErrorTextsGerman } from "./page-error-texts.ts";

/** The German texts of the pages of an unsubscribe link. */
export const unsubscribeTextsGerman: UnsubscribeTexts = {
  pageTitle: "Abbestellen · Payment Links",
  title: "E-Mails abbestellen",
  question: "Möchten Sie keine E-Mails mehr dazu erhalten?",
  unsubscribe: "Abbestellen",
  doneTitle: "Abbestellt",
  done: "Sie erhalten keine E-Mails mehr dazu:",
  settings: "Benachrichtigungen ändern",
  kinds: {
    payment_received: "Erhaltene Zahlungen",
    attention_needed: "Zahlungen, die Sie prüfen müssen",
    endpoint_failing: "Fehler von Webhook-Endpunkten",
    new_sign_in: "Neue Anmeldungen",
    new_wallet: "Neue Wallets",
  },
  errorTexts: {
    NOT_FOUND: "Dieser Link zum Abbestellen ist ungültig oder abgelaufen.",
    ...pageErrorTextsGerman,
  },
};
