/** The sections of the sidebar with the names of their pages, in reading order. */
export const sections: readonly { title: string; pages: readonly string[] }[] = [
  { title: "Get started", pages: ["index", "quickstart", "orders"] },
  {
    title: "Integrate",
    pages: [
      "webhooks",
      "events",
      "errors",
      "api",
      "typescript",
      "python",
      "own-checkout",
      "testing",
      "command-line",
      "going-live",
      "migrating",
    ],
  },
  {
    title: "Operate",
    pages: [
      "self-hosting",
      "local-chains",
      "configuration",
      "kubernetes",
      "after-install",
      "operations",
    ],
  },
];

/** Returns the path under which links-api serves a page. */
export const buildPagePath = (name: string): string =>
  name === "index" ? "/docs" : `/docs/${name}`;
