import type { SiteTexts } from "./site-texts.ts";

/** The German texts of pages without a payment. */
export const siteTextsGerman: SiteTexts = {
  home: {
    introduction:
      "Fordern Sie Stablecoin-Zahlungen mit einem Link an. Zahlungen gehen direkt an Ihre eigene Wallet.",
    console: "Konsole öffnen",
    payerHint:
      "Sie haben einen Zahlungslink erhalten? Öffnen Sie ihn genau so, wie er kam. Seine Seite " +
      "zeigt, wer wie viel verlangt.",
    apiDocument: "API-Referenz (OpenAPI)",
  },
  console: {
    needsScript: "Die Konsole braucht JavaScript. Ein Anmeldelink geht auch ohne:",
    link: "Anmeldelink",
    submit: "Weiter",
  },
  errorPages: {
    404: {
      title: "Seite nicht gefunden",
      text: "Prüfen Sie den Link und versuchen Sie es erneut.",
    },
    429: {
      title: "Zu viele Anfragen",
      text: "Warten Sie einen Moment und laden Sie die Seite neu.",
    },
    failed: {
      title: "Etwas ist schiefgelaufen",
      text: "Versuchen Sie es gleich noch einmal.",
    },
  },
};
