import { webhookEndpointOperations } from "@payment-links/contracts";
import { type InternalRoute, type Route, sessionRoute } from "@payment-links/http";
import type { Deps } from "./deps.ts";
import { createEndpoint } from "./http/create-endpoint.ts";
import { deleteEndpoint } from "./http/delete-endpoint.ts";
import { listDeliveries } from "./http/list-deliveries.ts";
import { listEndpoints } from "./http/list-endpoints.ts";
import { resealSecrets } from "./http/reseal-secrets.ts";
import { updateEndpoint } from "./http/update-endpoint.ts";

const endpoints = webhookEndpointOperations;

/** What waits for an endpoint, maybe a million deliveries, ends with it. */
const answerMsMax = 65_000;

/** Every public route: the console's alone, as no API key may manage webhooks (rule HOOK-1). */
export const publicRoutes = (deps: Deps): readonly Route[] => [
  sessionRoute({ ...endpoints.list, handle: listEndpoints(deps) }),
  sessionRoute({ ...endpoints.create, handle: createEndpoint(deps) }),
  sessionRoute({ ...endpoints.change, answerMsMax, handle: updateEndpoint(deps) }),
  sessionRoute({ ...endpoints.delete, answerMsMax, handle: deleteEndpoint(deps) }),
  sessionRoute({ ...endpoints.listDeliveries, handle: listDeliveries(deps) }),
];

/** Every route for operators. */
export const internalRoutes = (deps: Deps): readonly InternalRoute[] => [
  { method: "post", path: "/internal/webhook-secrets/reseal", handle: resealSecrets(deps) },
];
