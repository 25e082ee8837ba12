import type { Translated } from "@payment-links/http";

/** The English texts of pages without a payment. Each other language has its own such file. */
export const siteTexts = {
  home: {
    introduction:
      "Ask for a stablecoin payment with a link. Whoever opens it pays straight to your own wallet: " +
      "nothing here holds money.",
    console: "Open the console",
    payerHint:
      "Were you sent a payment link? Open it exactly as it was sent to you: its page says who asks " +
      "for how much.",
    apiDocument: "The API, described for programs",
  },
  console: {
    needsScript: "The console needs JavaScript. A sign-in link can be used without it:",
    link: "Your sign-in link",
    submit: "Continue",
  },
  errorPages: {
    404: { title: "Not found", text: "There is nothing at this address. Please check the link." },
    429: {
      title: "Too many requests",
      text: "Please wait a moment, then load the page again.",
    },
    failed: { title: "Something went wrong", text: "Please try again in a moment." },
  },
} as const;

/** The texts that every language must provide. */
export type SiteTexts = Translated<typeof siteTexts>;
