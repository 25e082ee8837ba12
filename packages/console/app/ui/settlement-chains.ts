/** The chains on which a link's page tells payers how to pay, as links-api wrote them into the page. */
export const settlementChains: ReadonlySet<string> = new Set(
  (document.querySelector<HTMLMetaElement>("meta[name=settlement-chains]")?.content ?? "")
    .split(" ")
    .filter((id) => id !== ""),
);
