import type { ServiceName } from "../replica.ts";
import { enqueueRequest } from "./pending-requests.ts";
import type { Shop } from "./shop.ts";

type OperatorCommand = {
  description: string;
  path: string;
  body?: object;
  onAccepted?: () => void;
};

/**
 * Sends an operator's request to a service's internal API. A response with a status below 500
 * completes the request.
 */
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

/** Republishes lost events as the README describes: links before payments. */
export const republishAll = (shop: Shop): void =>
  republish(shop, "payment-links", () => republish(shop, "settlements"));

/** Republishes a resource, waits until this has ended, and then calls `onRepublished`. */
const republish = (
  shop: Shop,
  resource: "payment-links" | "settlements",
  onRepublished?: () => void,
): void => {
  const service = resource === "settlements" ? "settlement-listener" : "links-api";
  const path = `/internal/republish/${resource}`;
  const pollRepublish = () =>
    enqueueRequest(shop, {
      description: `poll republish ${resource}`,
      service,
      isInternal: true,
      createRequest: () => ({ method: "GET", path }),
      handleResponse: ({ status, text }) => {
        if (status >= 500) return false;
        // A restored service has lost the request.
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
