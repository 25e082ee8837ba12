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
  cancelLink: "Do not sign in",
  backToConsole: "Back to the console",
  errorTexts: {
    INVALID_SIGN_IN_TOKEN: "The sign-in link is not valid or has been used.",
    ACCOUNT_SUSPENDED: "The account is suspended.",
    SIGN_IN_METHOD_UNAVAILABLE: "This way of signing in is not available here.",
    CROSS_SITE_REQUEST: "Requests from another site are refused.",
    PAYLOAD_TOO_LARGE: "The body is larger than 64 KiB.",
    "429": "Too many requests.",
    INTERNAL_ERROR: "Something failed on our side.",
    SERVICE_UNAVAILABLE: "The service is not available right now.",
  },
} as const;

/** The texts that every language must have. */
export type SignInTexts = Translated<typeof signInTexts>;
