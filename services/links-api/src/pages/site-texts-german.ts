import type { SiteTexts } from "./site-texts.ts";

/** The German texts of pages without a payment. */
export const siteTextsGerman: SiteTexts = {
  home: {
    introduction:
      "Fordern Sie eine Zahlung in Stablecoins mit einem Link an. Wer ihn öffnet, zahlt direkt in " +
      "Ihre eigene Wallet: Hier liegt nie Geld.",
    console: "Die Konsole öffnen",
    payerHint:
      "Hat Ihnen jemand einen Zahlungslink geschickt? Öffnen Sie ihn genau so, wie er kam: Seine Seite " +
      "sagt, wer wie viel verlangt.",
    apiDocument: "Die API, für Programme beschrieben",
  },
  console: {
    needsScript: "Die Konsole braucht JavaScript. Ein Anmeldelink geht auch ohne:",
    link: "Ihr Anmeldelink",
    submit: "Weiter",
  },
  errorPages: {
    404: {
      title: "Nicht gefunden",
      text: "Unter dieser Adresse gibt es nichts. Bitte prüfen Sie den Link.",
    },
    429: {
      title: "Zu viele Anfragen",
      text: "Bitte warten Sie einen Moment und laden Sie die Seite dann neu.",
    },
    failed: {
      title: "Etwas ist schiefgegangen",
      text: "Bitte versuchen Sie es gleich noch einmal.",
    },
  },
};
