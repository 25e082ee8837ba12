import type { Translated } from "@payment-links/http";

/** The English texts of pages that do not involve a payment. Other languages have similar files. */
export const siteTexts = {
  home: {
    introduction:
      "Request stablecoin payments with a link. Payments go straight to your own wallet.",
    console: "Open console",
    payerHint:
      "Received a payment link? Open it exactly as it was sent. The page shows who requests the payment and the amount.",
    apiDocument: "API reference (OpenAPI)",
  },
  console: {
    needsScript: "The console needs JavaScript. You can use a sign-in link without it:",
    link: "Sign-in link",
    submit: "Continue",
  },
  errorPages: {
    404: { title: "Page not found", text: "Check the link and try again." },
    429: {
      title: "Too many requests",
      text: "Wait a moment and reload the page.",
    },
    failed: { title: "Something went wrong", text: "Try again in a moment." },
  },
} as const;

/** The texts that each language must provide. */
export type SiteTexts = Translated<typeof siteTexts>;
