import type { ServiceName } from "../replica.ts";
import { ask } from "./errands.ts";
import type { Shop } from "./shop.ts";

type Asked = { what: string; path: string; body?: object; next?: () => void };

/** What an operator asks of a service by its internal API; an answer below 500 ends it. */
export const command = (
  shop: Shop,
  service: ServiceName,
  { body, next, path, what }: Asked,
): void => {
  shop.world.count(`operators: ${what.split(" ")[0] ?? ""}`);
  ask(shop, {
    what,
    service,
    isInternal: true,
    send: () => ({
      method: "POST",
      path,
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    }),
    answered: ({ status }) => {
      if (status >= 500) return false;
      if (status === 202) next?.();
      return true;
    },
  });
};

/** As the README says: what was lost is told again, a link before its payments. */
export const republishAll = (shop: Shop): void =>
  republish(shop, "payment-links", () => republish(shop, "settlements"));

/** Ends once all was told again; then what follows is asked for. */
const republish = (shop: Shop, what: "payment-links" | "settlements", then?: () => void): void => {
  const service = what === "settlements" ? "settlement-listener" : "links-api";
  const path = `/internal/republish/${what}`;
  const watch = () =>
    ask(shop, {
      what: `look at republish ${what}`,
      service,
      isInternal: true,
      send: () => ({ method: "GET", path }),
      answered: ({ status, text }) => {
        if (status >= 500) return false;
        // A service that was restored has forgotten that it was asked.
        if (status === 404) {
          republish(shop, what, then);
          return true;
        }
        if (JSON.parse(text).endedAt === null) return false;
        then?.();
        return true;
      },
    });
  command(shop, service, { what: `republish ${what}`, path, next: watch });
};
