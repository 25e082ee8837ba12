import type { Translated } from "@payment-links/http";
import { pageErrorTexts } from "./page-error-texts.ts";

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
    ...pageErrorTexts,
  },
} as const;

/** The texts that every language must have. */
export type SignInTexts = Translated<typeof signInTexts>;
