/** The sections of the sidebar with the names of their pages, in reading order. */
export const sections: readonly { title: string; pages: readonly string[] }[] = [
  { title: "Get started", pages: ["index", "orders"] },
  {
    title: "Integrate",
    pages: ["events", "errors", "api"],
  },
];

/** Returns the path under which links-api serves a page. */
export const buildPagePath = (name: string): string =>
  name === "index" ? "/docs" : `/docs/${name}`;
