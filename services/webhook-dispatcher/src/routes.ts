import { type InternalRoute, type Route, sessionRoute } from "@payment-links/http";
import type { Deps } from "./deps.ts";
import { createEndpoint } from "./http/create-endpoint.ts";
import { deleteEndpoint } from "./http/delete-endpoint.ts";
import { listDeliveries } from "./http/list-deliveries.ts";
import { listEndpoints } from "./http/list-endpoints.ts";
import { resealSecrets } from "./http/reseal-secrets.ts";
import { updateEndpoint } from "./http/update-endpoint.ts";

const endpoints = "/console/api/webhook-endpoints";

/** Every public route: the console's alone, as no API key may manage webhooks (rule HOOK-1). */
export const publicRoutes = (deps: Deps): readonly Route[] => [
  sessionRoute({ method: "get", path: endpoints, handle: listEndpoints(deps) }),
  sessionRoute({ method: "post", path: endpoints, handle: createEndpoint(deps) }),
  sessionRoute({ method: "patch", path: `${endpoints}/:id`, handle: updateEndpoint(deps) }),
  sessionRoute({ method: "delete", path: `${endpoints}/:id`, handle: deleteEndpoint(deps) }),
  sessionRoute({
    method: "get",
    path: `${endpoints}/:id/deliveries`,
    handle: listDeliveries(deps),
  }),
];

/** Every route for operators. */
export const internalRoutes = (deps: Deps): readonly InternalRoute[] => [
  { method: "post", path: "/internal/webhook-secrets/reseal", handle: resealSecrets(deps) },
];
