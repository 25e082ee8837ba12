import { type IconNode, keyRound, link, plus, webhook } from "@payment-links/design/icons";
import { useOperationQuery } from "../api/query.ts";
import { formatAmount, truncateMiddle } from "../ui/format.ts";
import { navigationItems } from "./navigation-items.ts";
import { useAccount } from "./session.ts";
import { texts } from "./texts.ts";

export type SearchResult = {
  kind: keyof typeof texts.searchKinds;
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
  const { isReady } = useAccount();
  const links = useOperationQuery(
    "listOwnPaymentLinks",
    { query: { q: text } },
    { isEnabled: hasText && isReady },
  );
  const keys = useOperationQuery("listApiKeys", {}, { isEnabled: hasText });
  const endpoints = useOperationQuery("listWebhookEndpoints", {}, { isEnabled: hasText });
  const results = hasText
    ? [
        ...(links.data?.data ?? []).slice(0, resultsMaxPerKind).map(toLinkResult),
        ...(keys.data?.data ?? [])
          .filter(({ name, prefix }) => includesText([name, prefix], text))
          .slice(0, resultsMaxPerKind)
          .map(toKeyResult),
        ...(endpoints.data?.data ?? [])
          .filter(({ name, url }) => includesText([name, url], text))
          .slice(0, resultsMaxPerKind)
          .map(toEndpointResult),
        ...views.filter(({ title }) => includesText([title], text)),
      ]
    : views;
  // Until a list arrives, its previous search can still be in `results`.
  const isPending =
    hasText && [links, keys, endpoints].some((query) => query.isLoading || query.isPlaceholderData);
  return { results, isPending, error: links.error ?? keys.error ?? endpoints.error };
};

const includesText = (values: readonly string[], text: string): boolean =>
  values.some((value) => value.toLowerCase().includes(text.toLowerCase()));

const views: readonly SearchResult[] = [
  ...navigationItems.map(({ to, label, icon }) => ({ to, title: label, icon })),
  { to: "/links/new", title: texts.createLink, icon: plus },
].map((view) => ({ ...view, kind: "view" as const, detail: "" }));

type Link = { id: string; toAmount: string; token: { symbol: string }; description: string | null };

const toLinkResult = ({ id, toAmount, token, description }: Link): SearchResult => ({
  kind: "link",
  to: `/links/${id}`,
  title: description ?? truncateMiddle(id),
  detail: `${formatAmount(toAmount)} ${token.symbol}`,
  icon: link,
});

const toKeyResult = ({ name, prefix }: { name: string; prefix: string }): SearchResult => ({
  kind: "key",
  to: "/keys",
  title: name,
  detail: prefix,
  icon: keyRound,
});

const toEndpointResult = (endpoint: { id: string; name: string; url: string }): SearchResult => ({
  kind: "endpoint",
  to: `/webhooks/${endpoint.id}`,
  title: endpoint.name,
  detail: endpoint.url,
  icon: webhook,
});
