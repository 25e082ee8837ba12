import { choose } from "./language.ts";

/** The words that every page has. */
export const texts = choose({
  en: {
    copy: "Copy",
    copied: "Copied",
    cancel: "Cancel",
    close: "Close",
    brokenTitle: "This view failed",
    broken: "Nothing was changed. Load the page again; if it fails again, tell your operator.",
    reload: "Load the page again",
    nowhere: "Nothing is here",
    loading: "Loading…",
    working: "Working…",
    again: "Try again",
    newer: "Newer",
    older: "Older",
    pages: "Pages",
    stored: "I have stored it",
    secretOnce: "It is shown this once and never again.",
    noWallet: "There is no Ethereum wallet in this browser.",
    walletRefused: "The wallet did not sign.",
    passkeyExists: "This device has a passkey here already.",
    noPasskey: "No passkey answered.",
    notProven: "Nothing was changed.",
    madeUnseen:
      "The try before made it, but its answer was lost, and the secret with it. It is in the list: take it away there, then make it anew.",
    unreachable:
      "The server cannot be reached. Nothing was lost here: try again when you are online.",
    busy: (seconds: number | undefined) =>
      seconds === undefined
        ? "Too many requests. Please wait a moment, then try again."
        : `Too many requests. Please try again in ${seconds} s.`,
    failed: "Something failed on the server's side. Please try again in a moment.",
    refused: "This did not succeed.",
    notFound: "There is nothing at this address, or it belongs to another account.",
    suspended: "Your account is suspended. Ask your operator.",
  },
});
