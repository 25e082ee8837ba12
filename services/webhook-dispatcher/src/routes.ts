import { webhookEndpointOperations } from "@payment-links/contracts";
import { type InternalRoute, type Route, publicRoute, sessionRoute } from "@payment-links/http";
import type { Deps } from "./deps.ts";
import { createEndpoint } from "./http/create-endpoint.ts";
import { deleteEndpoint } from "./http/delete-endpoint.ts";
import { getDelivery } from "./http/get-delivery.ts";
import { getOwnerImage } from "./http/get-owner-image.ts";
import { listDeliveries } from "./http/list-deliveries.ts";
import { listEndpoints } from "./http/list-endpoints.ts";
import { listLinkDeliveries } from "./http/list-link-deliveries.ts";
import { resealSecrets } from "./http/reseal-secrets.ts";
import { updateEndpoint } from "./http/update-endpoint.ts";

const endpoints = webhookEndpointOperations;

/** What waits for an endpoint, maybe a million deliveries, ends with it. */
const answerMsMax = 65_000;

/** Longer than a stranger's host may take, so that whoever looks hears how that ended. */
const imageMsMax = 15_000;

/**
 * Every public route: of webhooks the console's alone, as no API key may manage them (rule HOOK-1), and
 * the images of owners.
 */
export const publicRoutes = (deps: Deps): readonly Route[] => [
  sessionRoute({ ...endpoints.list, handle: listEndpoints(deps) }),
  sessionRoute({ ...endpoints.create, handle: createEndpoint(deps) }),
  sessionRoute({ ...endpoints.change, answerMsMax, handle: updateEndpoint(deps) }),
  sessionRoute({ ...endpoints.delete, answerMsMax, handle: deleteEndpoint(deps) }),
  sessionRoute({ ...endpoints.listDeliveries, handle: listDeliveries(deps) }),
  sessionRoute({ ...endpoints.getDelivery, handle: getDelivery(deps) }),
  sessionRoute({ ...endpoints.listLinkDeliveries, handle: listLinkDeliveries(deps) }),
  publicRoute({
    method: "get",
    path: "/checkout/images/:userId/:digest",
    answerMsMax: imageMsMax,
    handle: getOwnerImage(deps),
  }),
];

/** Every route for operators. */
export const internalRoutes = (deps: Deps): readonly InternalRoute[] => [
  { method: "post", path: "/internal/webhook-secrets/reseal", handle: resealSecrets(deps) },
];
