import { choose } from "../../ui/language.ts";

/** The words of the way in. */
export const texts = choose({
  en: {
    title: "Sign in",
    intro:
      "Ask for stablecoin payments with a link. What is paid goes straight to your own wallet.",
    signedOut: "You are not signed in.",
    byOidc: "Sign in with your company",
    byPasskey: "Sign in with a passkey",
    bySiwe: "Sign in with Ethereum",
    byLink: "Or ask your operator for a sign-in link.",
    isThisYou: "Is this you?",
    signsIn: "This link signs you in as",
    signsOut: (present: string, next: string) =>
      `You are signed in as ${present}. Signing in as ${next} signs ${present} out.`,
    signInAs: (name: string) => `Sign in as ${name}`,
    stay: (name: string) => `Stay signed in as ${name}`,
    goOn: "Go on",
    failed: "Signing in did not succeed.",
    errors: {
      OIDC_SIGN_IN_REFUSED: "Your company's sign-in did not succeed. Please try again.",
      OIDC_ISSUER_UNAVAILABLE:
        "Your company's sign-in does not answer right now. Please try later.",
      ACCOUNT_SUSPENDED: "Your account is suspended. Ask your operator.",
      SIGN_UP_CLOSED: "You have no account here. Ask your operator for one.",
      REAUTHENTICATION_MISMATCH: "That company account does not sign in to the account you are in.",
      IDENTITY_TAKEN: "That company account signs in to another account here.",
      IDENTITY_LIMIT: "This account has as many ways to sign in as it may have.",
    },
  },
});
