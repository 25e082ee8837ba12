import type { SiteTexts } from "./site-texts.ts";

/** What pages say in German that are about no payment. */
export const siteTextsGerman: SiteTexts = {
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
