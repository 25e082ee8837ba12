import type { SignInTexts } from "./sign-in-texts.ts";

/** The German texts of the sign-in form for browsers without JavaScript. */
export const signInTextsGerman: SignInTexts = {
  pageTitle: "Anmelden · Payment Links",
  title: "Anmelden",
  signInNotice: "Mit diesem Link melden Sie sich als {owner} an.",
  accountSwitchNotice:
    "Sie sind als {present} angemeldet. Wenn Sie sich als {owner} anmelden, wird {present} abgemeldet.",
  signInAs: "Als {owner} anmelden",
  cancelLink: "Nicht anmelden",
  backToConsole: "Zurück zur Konsole",
  errorTexts: {
    INVALID_SIGN_IN_TOKEN: "Der Anmeldelink gilt nicht oder wurde schon benutzt.",
    ACCOUNT_SUSPENDED: "Das Konto ist gesperrt.",
    SIGN_IN_METHOD_UNAVAILABLE: "Diesen Weg zur Anmeldung gibt es hier nicht.",
    CROSS_SITE_REQUEST: "Anfragen von einer anderen Website werden abgelehnt.",
    PAYLOAD_TOO_LARGE: "Das ist zu viel auf einmal: mehr als 64 KiB.",
    "429": "Zu viele Anfragen. Bitte warten Sie einen Moment.",
    INTERNAL_ERROR: "Bei uns ist etwas gescheitert.",
    SERVICE_UNAVAILABLE: "Der Dienst ist gerade nicht erreichbar.",
  },
};
