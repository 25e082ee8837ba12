import type { InputOf } from "../../api/call.ts";

const statuses = ["active", "completed", "inactive"] as const;
const dayMs = 86_400_000;

/** Which links are wanted, as the address names it; days are the person's own. */
export const readFilter = (search: URLSearchParams): LinkFilter => {
  const wanted = (name: string): string | undefined => search.get(name) || undefined;
  const from = wanted("from");
  const to = wanted("to");
  return {
    status: statuses.find((known) => known === search.get("status")),
    q: wanted("q"),
    token: wanted("token"),
    from: from === undefined ? undefined : startOf(from),
    // The whole of the last day.
    to: to === undefined ? undefined : startOf(to, dayMs),
  };
};

type LinkFilter = Omit<NonNullable<InputOf<"listOwnPaymentLinks">["query"]>, "before" | "offset">;

/** Whether anything is left out. */
export const isFiltered = (filter: LinkFilter): boolean =>
  Object.values(filter).some((value) => value !== undefined);

const startOf = (day: string, laterMs = 0): string | undefined => {
  const at = new Date(`${day}T00:00`);
  return Number.isNaN(at.getTime()) ? undefined : new Date(at.getTime() + laterMs).toISOString();
};
