import {
  ListLinksQuery,
  PaymentLinkCreationData,
  PaymentLinkPage,
  RetrievedPaymentLink,
} from "@payment-links/contracts";
import {
  type InternalRoute,
  type Route,
  keyRoute,
  publicRoute,
  sessionRoute,
} from "@payment-links/http";
import type { Deps } from "./deps.ts";
import { createLink } from "./http/create-link.ts";
import { deactivateOwnLink } from "./http/deactivate-link.ts";
import { getCheckoutLink } from "./http/get-checkout-link.ts";
import { getCheckoutTransaction } from "./http/get-checkout-transaction.ts";
import { getConsoleLink } from "./http/get-console-link.ts";
import { getLink } from "./http/get-link.ts";
import { getOpenapi } from "./http/get-openapi.ts";
import { listLinkPayments } from "./http/list-link-payments.ts";
import { listOwnLinks } from "./http/list-links.ts";
import { republishLinks } from "./http/republish-links.ts";
import { answerPageRefusal as answerRefusal } from "./pages/answer-page.ts";
import { getAsset } from "./pages/get-asset.ts";
import { getChainLogo } from "./pages/get-chain-logo.ts";
import { getCheckoutPage } from "./pages/get-checkout-page.ts";
import { getConsolePage } from "./pages/get-console-page.ts";
import { getTransactionPage } from "./pages/get-transaction-page.ts";

/** How old an answer about a caller may be (rule CALLER-3). */
const createFreshMs = 1_000;
const readFreshMs = 5_000;

/** Every public route. */
export const publicRoutes = (deps: Deps): readonly Route[] => {
  const api = apiRoutes(deps);
  return [
    ...api,
    publicRoute({ method: "get", path: "/v1/openapi.json", handle: getOpenapi(api, deps) }),
    ...consoleRoutes(deps),
    ...checkoutRoutes(deps),
    ...pageRoutes(deps),
  ];
};

const keyRefusals = [
  "UNAUTHENTICATED",
  "INVALID_API_KEY",
  "EXPIRED_API_KEY",
  "INSUFFICIENT_API_SCOPE",
] as const;

const apiRoutes = (deps: Deps): readonly Route[] => [
  keyRoute({
    method: "post",
    path: "/v1/payment-link",
    scope: "payment_link:create",
    freshMs: createFreshMs,
    failure: "CANNOT_CREATE_PAYMENT_LINK",
    document: {
      operationId: "createPaymentLink",
      summary: "Create a payment link",
      body: deps.createBody,
      answer: PaymentLinkCreationData,
      acceptsIdempotencyKey: true,
      refusals: [
        ...keyRefusals,
        "PAYMENT_LINK_ACCOUNT_NOT_READY",
        "IDEMPOTENCY_KEY_IN_USE",
        "PAYLOAD_TOO_LARGE",
        "UNSUPPORTED_CONTENT_ENCODING",
        "INVALID_PAYMENT_LINK_AMOUNT",
        "validation",
        "IDEMPOTENCY_KEY_INVALID",
        "IDEMPOTENCY_KEY_REUSED",
        "429",
        "CANNOT_CREATE_PAYMENT_LINK",
      ],
    },
    handle: createLink(deps),
  }),
  keyRoute({
    method: "get",
    path: "/v1/payment-link",
    scope: "payment_link:read",
    freshMs: readFreshMs,
    failure: "CANNOT_FIND_PAYMENT_LINK",
    document: {
      operationId: "listPaymentLinks",
      summary: "List payment links, newest first",
      query: ListLinksQuery,
      answer: PaymentLinkPage,
      refusals: [
        ...keyRefusals,
        "CANNOT_FIND_PAYMENT_LINK",
        "PAYMENT_LINK_ACCOUNT_NOT_READY",
        "validation",
        "429",
      ],
    },
    handle: listOwnLinks(deps),
  }),
  publicRoute({
    method: "get",
    path: "/v1/payment-link/:id",
    document: {
      operationId: "retrievePaymentLink",
      summary: "Retrieve a payment link with its owner's public profile",
      answer: RetrievedPaymentLink,
      refusals: ["CANNOT_FIND_PAYMENT_LINK", "429", "INTERNAL_ERROR"],
    },
    handle: getLink(deps),
  }),
];

const consoleRoutes = (deps: Deps): readonly Route[] => {
  const path = "/console/api/payment-links";
  return [
    sessionRoute({ method: "get", path, handle: listOwnLinks(deps) }),
    sessionRoute({
      method: "post",
      path,
      failure: "CANNOT_CREATE_PAYMENT_LINK",
      handle: createLink(deps),
    }),
    sessionRoute({ method: "get", path: `${path}/:id`, handle: getConsoleLink(deps) }),
    sessionRoute({ method: "get", path: `${path}/:id/payments`, handle: listLinkPayments(deps) }),
    sessionRoute({
      method: "post",
      path: `${path}/:id/deactivate`,
      handle: deactivateOwnLink(deps),
    }),
  ];
};

/** What the checkout page needs, and anybody who pays without it. */
const checkoutRoutes = (deps: Deps): readonly Route[] => [
  publicRoute({
    method: "get",
    path: "/checkout/payment-links/:id",
    handle: getCheckoutLink(deps),
  }),
  publicRoute({
    method: "get",
    path: "/checkout/transactions/:id",
    handle: getCheckoutTransaction(deps),
  }),
];

const pageRoutes = (deps: Deps): readonly Route[] => [
  publicRoute({
    method: "get",
    path: "/@:handle/pay/:id",
    answerRefusal,
    handle: getCheckoutPage(deps),
  }),
  publicRoute({ method: "get", path: "/tx/:id", answerRefusal, handle: getTransactionPage(deps) }),
  publicRoute({ method: "get", path: "/console", answerRefusal, handle: getConsolePage }),
  publicRoute({ method: "get", path: "/console/:page", answerRefusal, handle: getConsolePage }),
  publicRoute({
    method: "get",
    path: "/checkout/assets/:name",
    isLimited: false,
    handle: getAsset,
  }),
  publicRoute({
    method: "get",
    path: "/checkout/logos/:chainId.svg",
    isLimited: false,
    handle: getChainLogo(deps),
  }),
];

/** Every route for operators. */
export const internalRoutes = (deps: Deps): readonly InternalRoute[] => [
  { method: "post", path: "/internal/republish/payment-links", handle: republishLinks(deps) },
];
