import type { ServiceName } from "../replica.ts";
import { enqueueRequest } from "./pending-requests.ts";
import type { Shop } from "./shop.ts";

type OperatorCommand = {
  description: string;
  path: string;
  body?: object;
  onAccepted?: () => void;
};

/** What an operator asks of a service by its internal API; an answer below 500 ends it. */
export const sendCommand = (
  shop: Shop,
  service: ServiceName,
  { body, onAccepted, path, description }: OperatorCommand,
): void => {
  shop.world.count(`operators: ${description.split(" ")[0] ?? ""}`);
  enqueueRequest(shop, {
    description,
    service,
    isInternal: true,
    createRequest: () => ({
      method: "POST",
      path,
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    }),
    handleResponse: ({ status }) => {
      if (status >= 500) return false;
      if (status === 202) onAccepted?.();
      return true;
    },
  });
};

/** As the README says: what was lost is told again, a link before its payments. */
export const republishAll = (shop: Shop): void =>
  republish(shop, "payment-links", () => republish(shop, "settlements"));

/** Ends once all was told again; then what follows is asked for. */
const republish = (
  shop: Shop,
  resource: "payment-links" | "settlements",
  onRepublished?: () => void,
): void => {
  const service = resource === "settlements" ? "settlement-listener" : "links-api";
  const path = `/internal/republish/${resource}`;
  const pollRepublish = () =>
    enqueueRequest(shop, {
      description: `look at republish ${resource}`,
      service,
      isInternal: true,
      createRequest: () => ({ method: "GET", path }),
      handleResponse: ({ status, text }) => {
        if (status >= 500) return false;
        // A service that was restored has forgotten that it was asked.
        if (status === 404) {
          republish(shop, resource, onRepublished);
          return true;
        }
        if (JSON.parse(text).endedAt === null) return false;
        onRepublished?.();
        return true;
      },
    });
  sendCommand(shop, service, {
    description: `republish ${resource}`,
    path,
    onAccepted: pollRepublish,
  });
};
