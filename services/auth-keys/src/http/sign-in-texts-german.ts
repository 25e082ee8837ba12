import type { SignInTexts } from "./sign-in-texts.ts";
import { pageErrorTextsGerman } from "./page-error-texts.ts";

/** The German texts of the sign-in form for browsers without JavaScript. */
export const signInTextsGerman: SignInTexts = {
  pageTitle: "Anmelden · Payment Links",
  title: "Anmelden",
  signInNotice: "Dieser Link meldet Sie als {owner} an.",
  accountSwitchNotice:
    "Sie sind als {present} angemeldet. Wenn Sie sich als {owner} anmelden, wird {present} abgemeldet.",
  signInAs: "Als {owner} anmelden",
  cancelLink: "Abbrechen",
  backToConsole: "Zurück zur Konsole",
  errorTexts: {
    INVALID_SIGN_IN_TOKEN:
      "Dieser Anmeldelink ist ungültig oder wurde schon benutzt. Bitten Sie Ihren Betreiber um einen neuen.",
    ACCOUNT_SUSPENDED: "Ihr Konto ist gesperrt. Wenden Sie sich an Ihren Betreiber.",
    SIGN_IN_METHOD_UNAVAILABLE: "Diese Anmeldemethode ist nicht verfügbar.",
    CROSS_SITE_REQUEST: "Anfragen von einer anderen Website sind nicht erlaubt.",
    ...pageErrorTextsGerman,
  },
};
