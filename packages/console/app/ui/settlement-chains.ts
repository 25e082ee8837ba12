/** The chains on which checkout pages accept payments. links-api writes them into the page. */
export const settlementChains: ReadonlySet<string> = new Set(
  (document.querySelector<HTMLMetaElement>("meta[name=settlement-chains]")?.content ?? "")
    .split(" ")
    .filter((id) => id !== ""),
);
