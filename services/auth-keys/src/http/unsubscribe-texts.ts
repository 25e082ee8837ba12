import type { Translated } from "@payment-links/http";
import { pageErrorTexts } from "./page-error-texts.ts";

/** The English texts of the pages of an unsubscribe link. Each other language has its own file. */
export const unsubscribeTexts = {
  pageTitle: "Unsubscribe · Payment Links",
  title: "Unsubscribe",
  question: "Do you want to stop getting emails about this?",
  unsubscribe: "Unsubscribe",
  doneTitle: "Unsubscribed",
  done: "You will no longer get emails about this:",
  settings: "Change notifications",
  kinds: {
    payment_received: "Payments received",
    attention_needed: "Payments that need attention",
    endpoint_failing: "Failing webhook endpoints",
    new_sign_in: "New sign-ins",
    new_wallet: "New wallets",
  },
  errorTexts: {
    NOT_FOUND: "This unsubscribe link is not valid or has expired.",
    ...pageErrorTexts,
  },
} as const;

/** The texts that every language must have. */
export type UnsubscribeTexts = Translated<typeof unsubscribeTexts>;
