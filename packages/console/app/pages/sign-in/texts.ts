import { pickTranslation } from "../../ui/language.ts";

/** The texts of the sign-in view. */
export const texts = pickTranslation({
  en: {
    documentTitle: "Sign in",
    title: "Sign in to Payment Links",
    intro: "Request stablecoin payments with a link. Payments go straight to your own wallet.",
    signInWithOidc: "Sign in with company account",
    signInWithPasskey: "Sign in with passkey",
    signInWithEthereum: "Sign in with Ethereum",
    signInLinkHint: "Or ask your operator for a sign-in link.",
    signsInAs: "This link signs you in as",
    signOutWarning: (currentName: string, newName: string) =>
      `You are signed in as ${currentName}. Signing in as ${newName} signs ${currentName} out.`,
    signInAs: (name: string) => `Sign in as ${name}`,
    staySignedInAs: (name: string) => `Stay signed in as ${name}`,
    signInFailed: "We couldn't sign you in. Try again.",
    passkeyTitle: "Add a passkey",
    passkeyReason:
      "Then you can sign in and confirm sensitive changes without a new link from your operator.",
    passkeyName: "Passkey",
    deviceName: (device: string) => device,
    errors: {
      OIDC_SIGN_IN_REFUSED: "Your company's sign-in failed. Try again.",
      OIDC_ISSUER_UNAVAILABLE: "Your company's sign-in isn't responding. Try again later.",
      ACCOUNT_SUSPENDED: "Your account is suspended. Contact your operator.",
      SIGN_UP_CLOSED: "You don't have an account yet. Ask your operator for one.",
      REAUTHENTICATION_REQUIRED: "That took too long. Confirm it's you and link it again.",
      REAUTHENTICATION_MISMATCH: "That company account belongs to a different account.",
      IDENTITY_TAKEN: "That company account is linked to another account.",
      IDENTITY_LIMIT: "This account has reached the maximum number of sign-in methods.",
    },
  },
  de: {
    documentTitle: "Anmelden",
    title: "Bei Payment Links anmelden",
    intro:
      "Fordern Sie Stablecoin-Zahlungen mit einem Link an. Zahlungen gehen direkt an Ihre eigene Wallet.",
    signInWithOidc: "Mit Firmenkonto anmelden",
    signInWithPasskey: "Mit Passkey anmelden",
    signInWithEthereum: "Mit Ethereum anmelden",
    signInLinkHint: "Oder bitten Sie Ihren Betreiber um einen Anmeldelink.",
    signsInAs: "Dieser Link meldet Sie an als",
    signOutWarning: (currentName: string, newName: string) =>
      `Sie sind als ${currentName} angemeldet. Wenn Sie sich als ${newName} anmelden, wird ${currentName} abgemeldet.`,
    signInAs: (name: string) => `Als ${name} anmelden`,
    staySignedInAs: (name: string) => `Als ${name} angemeldet bleiben`,
    signInFailed: "Die Anmeldung ist fehlgeschlagen. Versuchen Sie es erneut.",
    passkeyTitle: "Passkey hinzufügen",
    passkeyReason:
      "Damit melden Sie sich an und bestätigen wichtige Änderungen, ohne einen neuen Link vom Betreiber zu brauchen.",
    passkeyName: "Passkey",
    deviceName: (device: string) => device.replace(" on ", " unter "),
    errors: {
      OIDC_SIGN_IN_REFUSED:
        "Die Anmeldung Ihrer Firma ist fehlgeschlagen. Versuchen Sie es erneut.",
      OIDC_ISSUER_UNAVAILABLE:
        "Die Anmeldung Ihrer Firma antwortet nicht. Versuchen Sie es später.",
      ACCOUNT_SUSPENDED: "Ihr Konto ist gesperrt. Wenden Sie sich an Ihren Betreiber.",
      SIGN_UP_CLOSED: "Sie haben hier kein Konto. Bitten Sie Ihren Betreiber darum.",
      REAUTHENTICATION_REQUIRED:
        "Das hat zu lange gedauert. Bestätigen Sie Ihre Identität und verknüpfen Sie es erneut.",
      REAUTHENTICATION_MISMATCH: "Dieses Firmenkonto gehört zu einem anderen Konto.",
      IDENTITY_TAKEN: "Dieses Firmenkonto ist mit einem anderen Konto verknüpft.",
      IDENTITY_LIMIT: "Dieses Konto hat die Höchstzahl an Anmeldemethoden erreicht.",
    },
  },
});
