import { choose } from "../../ui/language.ts";

/** The words of the overview. */
export const texts = choose({
  en: {
    title: "Overview",
    setup: "Set up",
    setupText:
      "Each step takes a minute. The first two are needed for links; skip the others as you like.",
    done: "Done",
    missing: "Missing",
    optional: "Not yet",
    skip: "Skip",
    skipAll: "Hide these steps",
    showAll: "Show the steps of setting up",
    steps: {
      handle: "Choose a handle: it stands in the address of each link.",
      wallet: "Add a wallet: links are paid straight to it.",
      link: "Make a first link, and send it to whoever shall pay.",
      key: "Make an API key, if a program of yours shall make links.",
      endpoint: "Add a webhook endpoint, if a server of yours shall be told of payments.",
    },
    go: {
      handle: "Choose a handle",
      wallet: "Add a wallet",
      link: "Make a link",
      key: "Make a key",
      endpoint: "Add an endpoint",
    },
    latest: "Latest links",
    allLinks: "All links",
  },
});
