import { webhookEndpointOperations, webhookListenerOperations } from "@payment-links/contracts";
import {
  type InternalRoute,
  type Route,
  keyRoute,
  publicRoute,
  sessionRoute,
} from "@payment-links/http";
import type { Dependencies } from "./dependencies.ts";
import { createEndpoint } from "./http/create-endpoint.ts";
import { createListener } from "./http/create-listener.ts";
import { deleteEndpoint } from "./http/delete-endpoint.ts";
import { deleteListener } from "./http/delete-listener.ts";
import { followListener } from "./http/follow-listener.ts";
import { getDelivery } from "./http/get-delivery.ts";
import { getOwnerImage } from "./http/get-owner-image.ts";
import { listDeliveries } from "./http/list-deliveries.ts";
import { listEndpoints } from "./http/list-endpoints.ts";
import { listLinkDeliveries } from "./http/list-link-deliveries.ts";
import { resealSecrets } from "./http/reseal-secrets.ts";
import { updateEndpoint } from "./http/update-endpoint.ts";

const operations = webhookEndpointOperations;

/** The listeners' routes, with the scope that a caller's key needs. */
const listenerOperations = webhookListenerOperations;
const scope = listenerOperations.create.caller;

/**
 * The timeout for disabling or deleting an endpoint. This also ends all of its waiting deliveries,
 * and there can be a million.
 */
const responseMsMax = 65_000;

/**
 * The timeout for an image. It is longer than a fetch can take, so that the visitor gets the
 * result.
 */
const imageResponseMsMax = 15_000;

/**
 * Creates the public routes: those for endpoints, listeners and the owners' images. Only the
 * console can use the routes for endpoints, because API keys must not manage them (rule HOOK-1).
 */
export const createPublicRoutes = (dependencies: Dependencies): readonly Route[] => [
  sessionRoute({ ...operations.list, handle: listEndpoints(dependencies) }),
  sessionRoute({ ...operations.create, handle: createEndpoint(dependencies) }),
  sessionRoute({ ...operations.change, responseMsMax, handle: updateEndpoint(dependencies) }),
  sessionRoute({ ...operations.delete, responseMsMax, handle: deleteEndpoint(dependencies) }),
  sessionRoute({ ...operations.listDeliveries, handle: listDeliveries(dependencies) }),
  sessionRoute({ ...operations.getDelivery, handle: getDelivery(dependencies) }),
  sessionRoute({ ...operations.listLinkDeliveries, handle: listLinkDeliveries(dependencies) }),
  keyRoute({ ...listenerOperations.create, scope, handle: createListener(dependencies) }),
  keyRoute({
    ...listenerOperations.follow,
    scope,
    isEndless: true,
    handle: followListener(dependencies),
  }),
  keyRoute({ ...listenerOperations.delete, scope, handle: deleteListener(dependencies) }),
  publicRoute({
    method: "get",
    path: "/checkout/images/:userId/:digest",
    responseMsMax: imageResponseMsMax,
    handle: getOwnerImage(dependencies),
  }),
];

/** Creates the routes for operators. */
export const createInternalRoutes = (dependencies: Dependencies): readonly InternalRoute[] => [
  { method: "post", path: "/internal/webhook-secrets/reseal", handle: resealSecrets(dependencies) },
];
