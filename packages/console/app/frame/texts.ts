import { choose } from "../ui/language.ts";

/** The words of what stands around every view. */
export const texts = choose({
  en: {
    product: "Payment Links",
    main: "Main",
    skip: "Skip to the content",
    overview: "Overview",
    links: "Links",
    keys: "API keys",
    webhooks: "Webhooks",
    account: "Account",
    missing: "Setting up is not finished",
    signOut: "Sign out",
    signedInAs: "Signed in as",
    offline: "You are offline. What you see may be old; it is read again as soon as you are back.",
    proven: "Thank you. Go on in the other tab; you can close this one.",
    stillYou: "Is it still you?",
    why: "Prove it once more, as this decides where money goes or who may act for you.",
    byPasskey: "Prove by a passkey",
    bySiwe: "Prove by Ethereum",
    byOidc: "Prove by your company's sign-in",
    oidcHint: "It opens a tab of its own. Come back here when it is done.",
    byLink: "Prove by the link",
    newLink: "A new sign-in link",
    notNow: "Not now",
  },
});
