import type { OperationInput } from "../../api/call.ts";
import { parseDateRange } from "../../ui/parse-date-range.ts";

const statuses = ["active", "completed", "inactive"] as const;

/** Parses the link filter in the URL. Days are in the user's time zone. */
export const parseLinkFilter = (searchParams: URLSearchParams): LinkFilter => {
  const getParameter = (name: string): string | undefined => searchParams.get(name) || undefined;
  return {
    status: statuses.find((candidate) => candidate === searchParams.get("status")),
    q: getParameter("q"),
    token: getParameter("token"),
    ...parseDateRange({ from: searchParams.get("from"), to: searchParams.get("to") }),
  };
};

type LinkFilter = Omit<
  NonNullable<OperationInput<"listOwnPaymentLinks">["query"]>,
  "before" | "offset"
>;

/** Returns whether any filter is set. */
export const isFiltered = (filter: LinkFilter): boolean =>
  Object.values(filter).some((value) => value !== undefined);
