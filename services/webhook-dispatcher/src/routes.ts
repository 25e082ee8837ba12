import { webhookEndpointOperations } from "@payment-links/contracts";
import { type InternalRoute, type Route, publicRoute, sessionRoute } from "@payment-links/http";
import type { Dependencies } from "./dependencies.ts";
import { createEndpoint } from "./http/create-endpoint.ts";
import { deleteEndpoint } from "./http/delete-endpoint.ts";
import { getDelivery } from "./http/get-delivery.ts";
import { getOwnerImage } from "./http/get-owner-image.ts";
import { listDeliveries } from "./http/list-deliveries.ts";
import { listEndpoints } from "./http/list-endpoints.ts";
import { listLinkDeliveries } from "./http/list-link-deliveries.ts";
import { resealSecrets } from "./http/reseal-secrets.ts";
import { updateEndpoint } from "./http/update-endpoint.ts";

const operations = webhookEndpointOperations;

/** What waits for an endpoint, maybe a million deliveries, ends with it. */
const responseMsMax = 65_000;

/** Longer than a stranger's host may take, so that whoever looks hears how that ended. */
const imageResponseMsMax = 15_000;

/**
 * Every public route: of webhooks the console's alone, as no API key may manage them (rule HOOK-1), and
 * the images of owners.
 */
export const createPublicRoutes = (dependencies: Dependencies): readonly Route[] => [
  sessionRoute({ ...operations.list, handle: listEndpoints(dependencies) }),
  sessionRoute({ ...operations.create, handle: createEndpoint(dependencies) }),
  sessionRoute({ ...operations.change, responseMsMax, handle: updateEndpoint(dependencies) }),
  sessionRoute({ ...operations.delete, responseMsMax, handle: deleteEndpoint(dependencies) }),
  sessionRoute({ ...operations.listDeliveries, handle: listDeliveries(dependencies) }),
  sessionRoute({ ...operations.getDelivery, handle: getDelivery(dependencies) }),
  sessionRoute({ ...operations.listLinkDeliveries, handle: listLinkDeliveries(dependencies) }),
  publicRoute({
    method: "get",
    path: "/checkout/images/:userId/:digest",
    responseMsMax: imageResponseMsMax,
    handle: getOwnerImage(dependencies),
  }),
];

/** Every route for operators. */
export const createInternalRoutes = (dependencies: Dependencies): readonly InternalRoute[] => [
  { method: "post", path: "/internal/webhook-secrets/reseal", handle: resealSecrets(dependencies) },
];
