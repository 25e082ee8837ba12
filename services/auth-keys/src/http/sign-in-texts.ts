import type { Translated } from "@payment-links/http";

/**
 * The English texts of the sign-in form for browsers without JavaScript. Each other language has
 * its own file.
 */
export const signInTexts = {
  pageTitle: "Sign in · Payment Links",
  title: "Sign in",
  signInNotice: "This link signs you in as {owner}.",
  accountSwitchNotice: "You are signed in as {present}. Signing in as {owner} signs {present} out.",
  signInAs: "Sign in as {owner}",
  cancelLink: "Cancel",
  backToConsole: "Back to console",
  errorTexts: {
    INVALID_SIGN_IN_TOKEN:
      "This sign-in link is invalid or was already used. Ask your operator for a new one.",
    ACCOUNT_SUSPENDED: "Your account is suspended. Contact your operator.",
    SIGN_IN_METHOD_UNAVAILABLE: "This sign-in method is not available.",
    CROSS_SITE_REQUEST: "Requests from another site are not allowed.",
    PAYLOAD_TOO_LARGE: "The request is larger than 64 KiB.",
    "429": "Too many requests. Wait a moment and try again.",
    INTERNAL_ERROR: "Something went wrong on our side. Try again in a moment.",
    SERVICE_UNAVAILABLE: "The service is not available. Try again in a moment.",
  },
} as const;

/** The texts that every language must have. */
export type SignInTexts = Translated<typeof signInTexts>;
