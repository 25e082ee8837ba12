import type { SiteTexts } from "./site-texts.ts";

/** What pages say in German that are about no payment. */
export const siteTextsGerman: SiteTexts = {
  home: {
    what:
      "Fordern Sie eine Zahlung in Stablecoins mit einem Link an. Wer ihn öffnet, zahlt direkt in " +
      "Ihre eigene Wallet: Hier liegt nie Geld.",
    console: "Die Konsole öffnen",
    payers:
      "Hat Ihnen jemand einen Zahlungslink geschickt? Öffnen Sie ihn genau so, wie er kam: Seine Seite " +
      "sagt, wer wie viel verlangt.",
    programs: "Die API, für Programme beschrieben",
  },
  console: {
    needsScript: "Die Konsole braucht JavaScript. Ein Anmeldelink geht auch ohne:",
    link: "Ihr Anmeldelink",
    go: "Weiter",
  },
  refused: {
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
