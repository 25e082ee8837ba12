import type { Operations } from "../../api/operations.ts";
import { changeParams } from "../../ui/change-params.ts";
import { parseDateRange } from "../../ui/parse-date-range.ts";
import { type LinkState, linkStates } from "./link-state.ts";

/** The parameters of the links list in the URL. */
export type LinkFilterParameter = "status" | "q" | "token" | "from" | "to";

type LinkFilter = Omit<
  NonNullable<Operations["listOwnPaymentLinks"]["input"]["query"]>,
  "mode" | "before" | "offset"
>;

const stateFilters: Readonly<Record<LinkState, LinkFilter>> = {
  open: { status: "active" },
  paid: { status: "completed" },
  expired: { inactiveReason: "expired" },
  deactivated: { inactiveReason: "deactivated" },
};

/** Returns the state in the URL. Undefined stands for all links. */
export const parseLinkState = (searchParams: URLSearchParams): LinkState | undefined =>
  linkStates.find((state) => state === searchParams.get("status"));

/** Parses the link filter in the URL. Days are in the user's time zone. */
export const parseLinkFilter = (searchParams: URLSearchParams): LinkFilter => {
  const getParameter = (name: LinkFilterParameter): string | undefined =>
    searchParams.get(name) || undefined;
  const state = parseLinkState(searchParams);
  return {
    ...(state === undefined ? {} : stateFilters[state]),
    q: getParameter("q"),
    token: getParameter("token"),
    ...parseDateRange({ from: searchParams.get("from"), to: searchParams.get("to") }),
  };
};

/** Returns whether any filter is set. */
export const isFiltered = (filter: LinkFilter): boolean =>
  Object.values(filter).some((value) => value !== undefined);

/**
 * Returns the URL of the list with another filter. It starts at the first page, or after the link
 * `before`.
 */
export const buildListUrl = (
  searchParams: URLSearchParams,
  changes: Partial<Record<LinkFilterParameter | "before", string>>,
): string => {
  const query = changeParams(searchParams, { before: "", ...changes }).toString();
  return query === "" ? "/links" : `/links?${query}`;
};
