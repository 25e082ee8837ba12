import { type IconNode, keyRound, link, plus, webhook } from "@payment-links/design/icons";
import { useOperationQuery } from "../api/query.ts";
import { isOfMode, mode } from "../mode.ts";
import { formatAmount, truncateMiddle } from "../ui/format.ts";
import { navigationItems } from "./navigation-items.ts";
import { useIsReady } from "./session.ts";
import { texts } from "./texts.ts";

export type SearchResult = {
  kind: keyof typeof texts.searchKinds;
  /** Unique among all results. */
  key: string;
  to: string;
  title: string;
  detail: string;
  icon: IconNode;
};

const resultsMaxPerKind = 6;

/**
 * Finds links, API keys, webhook endpoints and views. The service searches the links; the lists of
 * keys and endpoints are short, so they are searched here.
 */
export const useSearchResults = (text: string) => {
  const hasText = text !== "";
  const isReady = useIsReady();
  const query = { q: text, mode };
  const links = useOperationQuery(
    "listOwnPaymentLinks",
    { query },
    { isEnabled: hasText && isReady },
  );
  const keys = useOperationQuery("listApiKeys", {}, { isEnabled: hasText });
  const endpoints = useOperationQuery("listWebhookEndpoints", {}, { isEnabled: hasText });
  if (!hasText) return { results: views, isPending: false, error: null };
  const matches = (...values: readonly string[]): boolean =>
    values.some((value) => value.toLowerCase().includes(text.toLowerCase()));
  const foundLinks = links.data?.data ?? [];
  const foundKeys =
    keys.data?.data.filter(isOfMode).filter(({ name, prefix }) => matches(name, prefix)) ?? [];
  const foundEndpoints =
    endpoints.data?.data.filter(isOfMode).filter(({ name, url }) => matches(name, url)) ?? [];
  return {
    results: [
      ...foundLinks.slice(0, resultsMaxPerKind).map((found) => toLinkResult(found)),
      ...foundKeys.slice(0, resultsMaxPerKind).map((found) => toKeyResult(found)),
      ...foundEndpoints.slice(0, resultsMaxPerKind).map((found) => toEndpointResult(found)),
      ...views.filter(({ title }) => matches(title)),
    ],
    // Until the links of this text arrive, `links` contains those of the previous text.
    isPending:
      links.isPlaceholderData || [links, keys, endpoints].some(({ isLoading }) => isLoading),
    error: links.error ?? keys.error ?? endpoints.error,
  };
};

const views: readonly SearchResult[] = [
  ...navigationItems.map(({ to, label, icon }) => ({ to, title: label, icon })),
  { to: "/links/new", title: texts.createLink, icon: plus },
].map((view) => ({ ...view, kind: "view" as const, key: view.to, detail: "" }));

type FoundLink = {
  id: string;
  toAmount: string;
  token: { symbol: string };
  description: string | null;
};

const toLinkResult = ({ id, toAmount, token, description }: FoundLink): SearchResult => ({
  kind: "link",
  key: id,
  to: `/links/${id}`,
  title: description ?? truncateMiddle(id),
  detail: `${formatAmount(toAmount)} ${token.symbol}`,
  icon: link,
});

type FoundKey = { id: string; name: string; prefix: string };

const toKeyResult = ({ id, name, prefix }: FoundKey): SearchResult => ({
  kind: "key",
  key: id,
  to: "/keys",
  title: name,
  detail: prefix,
  icon: keyRound,
});

type FoundEndpoint = { id: string; name: string; url: string };

const toEndpointResult = ({ id, name, url }: FoundEndpoint): SearchResult => ({
  kind: "endpoint",
  key: id,
  to: `/webhooks/${id}`,
  title: name,
  detail: url,
  icon: webhook,
});
