import type { Translated } from "./languages.ts";

/** What pages say in English that are about no payment. Another language is another such file. */
export const siteTexts = {
  refused: {
    404: { title: "Not found", text: "There is nothing at this address. Please check the link." },
    429: {
      title: "Too many requests",
      text: "Please wait a moment, then load the page again.",
    },
    failed: { title: "Something went wrong", text: "Please try again in a moment." },
  },
} as const;

/** What every language has to say there. */
export type SiteTexts = Translated<typeof siteTexts>;
