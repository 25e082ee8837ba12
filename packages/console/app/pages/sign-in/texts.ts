import { pickTranslation } from "../../ui/language.ts";

/** The texts of the sign-in view. */
export const texts = pickTranslation({
  en: {
    title: "Sign in",
    intro:
      "Ask for stablecoin payments with a link. What is paid goes straight to your own wallet.",
    notSignedIn: "You are not signed in.",
    signInWithOidc: "Sign in with your company",
    signInWithPasskey: "Sign in with a passkey",
    signInWithEthereum: "Sign in with Ethereum",
    signInLinkHint: "Or ask your operator for a sign-in link.",
    confirmAccountTitle: "Is this you?",
    signsInAs: "This link signs you in as",
    signOutWarning: (currentName: string, newName: string) =>
      `You are signed in as ${currentName}. Signing in as ${newName} signs ${currentName} out.`,
    signInAs: (name: string) => `Sign in as ${name}`,
    staySignedInAs: (name: string) => `Stay signed in as ${name}`,
    proceed: "Go on",
    signInFailed: "Signing in did not succeed.",
    errors: {
      OIDC_SIGN_IN_REFUSED: "Your company's sign-in did not succeed. Please try again.",
      OIDC_ISSUER_UNAVAILABLE:
        "Your company's sign-in does not answer right now. Please try later.",
      ACCOUNT_SUSPENDED: "Your account is suspended. Ask your operator.",
      SIGN_UP_CLOSED: "You have no account here. Ask your operator for one.",
      REAUTHENTICATION_REQUIRED:
        "That took too long. Prove once more that it is you, then link it again.",
      REAUTHENTICATION_MISMATCH: "That company account does not sign in to the account you are in.",
      IDENTITY_TAKEN: "That company account signs in to another account here.",
      IDENTITY_LIMIT: "This account has as many ways to sign in as it may have.",
    },
  },
  de: {
    title: "Anmelden",
    intro:
      "Bitten Sie mit einem Link um Zahlungen in Stablecoins. Was bezahlt wird, geht direkt an Ihre eigene Wallet.",
    notSignedIn: "Sie sind nicht angemeldet.",
    signInWithOidc: "Mit Ihrer Firma anmelden",
    signInWithPasskey: "Mit einem Passkey anmelden",
    signInWithEthereum: "Mit Ethereum anmelden",
    signInLinkHint: "Oder bitten Sie Ihren Betreiber um einen Anmeldelink.",
    confirmAccountTitle: "Sind Sie das?",
    signsInAs: "Dieser Link meldet Sie an als",
    signOutWarning: (currentName: string, newName: string) =>
      `Sie sind als ${currentName} angemeldet. Wenn Sie sich als ${newName} anmelden, wird ${currentName} abgemeldet.`,
    signInAs: (name: string) => `Als ${name} anmelden`,
    staySignedInAs: (name: string) => `Als ${name} angemeldet bleiben`,
    proceed: "Weiter",
    signInFailed: "Die Anmeldung hat nicht geklappt.",
    errors: {
      OIDC_SIGN_IN_REFUSED:
        "Die Anmeldung Ihrer Firma hat nicht geklappt. Bitte versuchen Sie es noch einmal.",
      OIDC_ISSUER_UNAVAILABLE:
        "Die Anmeldung Ihrer Firma antwortet gerade nicht. Bitte versuchen Sie es später.",
      ACCOUNT_SUSPENDED: "Ihr Konto ist gesperrt. Fragen Sie Ihren Betreiber.",
      SIGN_UP_CLOSED: "Sie haben hier kein Konto. Bitten Sie Ihren Betreiber darum.",
      REAUTHENTICATION_REQUIRED:
        "Das hat zu lange gedauert. Weisen Sie sich noch einmal aus und verknüpfen Sie es dann wieder.",
      REAUTHENTICATION_MISMATCH:
        "Dieses Firmenkonto gehört nicht zu dem Konto, in dem Sie angemeldet sind.",
      IDENTITY_TAKEN: "Dieses Firmenkonto meldet hier in einem anderen Konto an.",
      IDENTITY_LIMIT: "Dieses Konto hat so viele Wege zur Anmeldung, wie es haben darf.",
    },
  },
});
