import type { InputOf } from "../../api/call.ts";
import { readDays } from "../../ui/read-days.ts";

const statuses = ["active", "completed", "inactive"] as const;

/** Which links are wanted, as the address names it; days are the person's own. */
export const readFilter = (search: URLSearchParams): LinkFilter => {
  const wanted = (name: string): string | undefined => search.get(name) || undefined;
  return {
    status: statuses.find((known) => known === search.get("status")),
    q: wanted("q"),
    token: wanted("token"),
    ...readDays({ from: search.get("from"), to: search.get("to") }),
  };
};

type LinkFilter = Omit<NonNullable<InputOf<"listOwnPaymentLinks">["query"]>, "before" | "offset">;

/** Whether anything is left out. */
export const isFiltered = (filter: LinkFilter): boolean =>
  Object.values(filter).some((value) => value !== undefined);
