import type { CatalogueChain } from "@payment-links/contracts";
import type { Html } from "@payment-links/http";
import type { Localization } from "./localization.ts";
import { renderChainLogo } from "./logos.ts";
import { renderCopyRow } from "./render-copy-row.ts";

/** Renders the row with the amount that must arrive. The copied text has no digit grouping. */
export const renderAmountRow = (
  amount: string,
  symbol: string,
  localization: Localization,
): Html => {
  const { labels } = localization.texts;
  const row = { label: labels.amount, name: "amount", text: amount, unit: symbol } as const;
  return renderCopyRow(row, localization);
};

export const renderNetworkRow = (
  { id, name: text }: Pick<CatalogueChain, "id" | "name">,
  localization: Localization,
): Html => {
  const { labels } = localization.texts;
  const logo = renderChainLogo(id);
  return renderCopyRow({ label: labels.network, name: "network", text, logo }, localization);
};
