import type { OperationInput } from "../../api/call.ts";
import { parseDateRange } from "../../ui/parse-date-range.ts";

const statuses = ["active", "completed", "inactive"] as const;

/** Which links are wanted, as the address names it; days are the person's own. */
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

/** Whether anything is left out. */
export const isFiltered = (filter: LinkFilter): boolean =>
  Object.values(filter).some((value) => value !== undefined);
