import {
  type CheckoutLink,
  type Decimal,
  checkoutOperations,
  consoleLinkOperations,
  depositOperations,
  exportOperations,
  overviewOperations,
  publicLinkOperations,
  refundOperations,
  testModeOperations,
} from "@payment-links/contracts";
import { type Route, exportMsMax, keyRoute, publicRoute, sessionRoute } from "@payment-links/http";
import type { Dependencies } from "./dependencies.ts";
import { assignOwnDeposit } from "./http/assign-deposit.ts";
import { createLink } from "./http/create-link.ts";
import { deactivateOwnLink } from "./http/deactivate-link.ts";
import { describeConsoleApi } from "./http/describe-console-api.ts";
import { describePublicApi } from "./http/describe-public-api.ts";
import { dismissOwnDeposit } from "./http/dismiss-deposit.ts";
import { endTestLink } from "./http/end-test-link.ts";
import { exportDeposits } from "./http/export-deposits.ts";
import { exportLinks } from "./http/export-links.ts";
import { exportPayments } from "./http/export-payments.ts";
import { getCheckoutLink } from "./http/get-checkout-link.ts";
import { getCheckoutTransaction } from "./http/get-checkout-transaction.ts";
import { getConsoleLink } from "./http/get-console-link.ts";
import { getLinkTimeline } from "./http/get-link-timeline.ts";
import { getLink } from "./http/get-link.ts";
import { getOpenapi } from "./http/get-openapi.ts";
import { getOverview } from "./http/get-overview.ts";
import { listOwnDeposits } from "./http/list-deposits.ts";
import { listOwnIgnoredFields } from "./http/list-ignored-fields.ts";
import { listLinkPayments } from "./http/list-link-payments.ts";
import { listOwnLinks } from "./http/list-links.ts";
import { readCheckoutLink } from "./http/read-checkout-link.ts";
import { suggestOwnFirstAddressIndex } from "./http/suggest-first-address-index.ts";
import { streamCheckoutLink } from "./http/stream-checkout-link.ts";
import { searchOwnLinks } from "./http/search-links.ts";
import { prepareRefund } from "./http/prepare-refund.ts";
import { type ApplySettlements, simulateTestPayment } from "./http/simulate-payment.ts";
import { recordRefund } from "./http/record-refund.ts";
import { sendPageError as sendApiError } from "./pages/send-page.ts";
import { sendWalletError } from "./pages/send-wallet-error.ts";
import { createConsoleFilesLoader } from "./pages/console-files.ts";
import { getAsset } from "./pages/get-asset.ts";
import { getChainLogo } from "./pages/get-chain-logo.ts";
import { getCheckoutPage } from "./pages/get-checkout-page.ts";
import { createDocsFilesLoader } from "./pages/docs-files.ts";
import { getBuiltAsset } from "./pages/get-built-asset.ts";
import { getConsoleVersion } from "./pages/get-console-version.ts";
import { sendConsoleError, getConsolePage } from "./pages/get-console-page.ts";
import { getDocsPage } from "./pages/get-docs-page.ts";
import { getHomePage } from "./pages/get-home-page.ts";
import { getIcon } from "./pages/get-icon.ts";
import { getPaymentQr } from "./pages/get-payment-qr.ts";
import { getQr } from "./pages/get-qr.ts";
import { getRequestQr } from "./pages/get-request-qr.ts";
import { getSolanaRequest } from "./pages/get-solana-request.ts";
import { getTransactionPage } from "./pages/get-transaction-page.ts";
import { receiptResponseMsMax, sendReceipt } from "./pages/send-receipt.ts";
import { createSolanaTransaction } from "./pages/create-solana-transaction.ts";

export { sendNotFound } from "./pages/send-not-found.ts";

/**
 * Files have a higher limit, because a page loads several files at a time and each one is cheap.
 */
const fileRateLimit = { policy: "files", factor: 3 } as const;
/**
 * Transactions have a lower limit, because each request calls a node and a payer needs only one or
 * two. The same applies to refunds.
 */
const transactionRateLimit = { policy: "transactions", factor: 0.1 } as const;
/** Deriving the addresses of one suggestion takes up to 300 ms of CPU time. */
const suggestionRateLimit = { policy: "suggestions", factor: 0.02 } as const;

/** Creates every public route. `applySettlements` evaluates simulated payments. */
export const createPublicRoutes = (
  dependencies: Dependencies,
  applySettlements: ApplySettlements,
): readonly Route[] => [
  ...createApiRoutes(dependencies),
  ...createTestModeRoutes(dependencies, applySettlements),
  ...createConsoleRoutes(dependencies),
  ...createCheckoutRoutes(dependencies),
  ...createDocumentRoutes(dependencies),
  ...createPageRoutes(dependencies),
  ...createConsolePageRoutes(dependencies),
  ...createDocsRoutes(),
];

const createApiRoutes = (dependencies: Dependencies): readonly Route[] => {
  const { create, list, retrieve } = publicLinkOperations(dependencies.createBody);
  return [
    keyRoute({ ...create, scope: create.caller, handle: createLink(dependencies, "key") }),
    keyRoute({ ...list, scope: list.caller, handle: listOwnLinks(dependencies) }),
    publicRoute({ ...retrieve, handle: getLink(dependencies) }),
  ];
};

const createTestModeRoutes = (
  dependencies: Dependencies,
  applySettlements: ApplySettlements,
): readonly Route[] => {
  const { deactivate, expire, pay } = testModeOperations;
  return [
    keyRoute({
      ...pay,
      scope: pay.caller,
      handle: simulateTestPayment(dependencies, applySettlements),
    }),
    keyRoute({ ...expire, scope: expire.caller, handle: endTestLink(dependencies, "expire") }),
    keyRoute({
      ...deactivate,
      scope: deactivate.caller,
      handle: endTestLink(dependencies, "deactivate"),
    }),
  ];
};

const createConsoleRoutes = (dependencies: Dependencies): readonly Route[] => {
  const links = consoleLinkOperations(dependencies.createBody);
  return [
    sessionRoute({ ...overviewOperations.get, handle: getOverview(dependencies) }),
    sessionRoute({ ...links.list, handle: searchOwnLinks(dependencies) }),
    sessionRoute({ ...links.create, handle: createLink(dependencies, "person") }),
    sessionRoute({
      ...links.suggestFirstAddressIndex,
      routeLimit: suggestionRateLimit,
      handle: suggestOwnFirstAddressIndex(dependencies),
    }),
    sessionRoute({ ...links.listIgnoredFields, handle: listOwnIgnoredFields(dependencies) }),
    sessionRoute({ ...links.get, handle: getConsoleLink(dependencies) }),
    sessionRoute({ ...links.listPayments, handle: listLinkPayments(dependencies) }),
    sessionRoute({
      ...exportOperations.links,
      responseMsMax: exportMsMax,
      handle: exportLinks(dependencies),
    }),
    sessionRoute({
      ...exportOperations.payments,
      responseMsMax: exportMsMax,
      handle: exportPayments(dependencies),
    }),
    sessionRoute({ ...depositOperations.list, handle: listOwnDeposits(dependencies) }),
    sessionRoute({ ...depositOperations.assign, handle: assignOwnDeposit(dependencies) }),
    sessionRoute({ ...depositOperations.dismiss, handle: dismissOwnDeposit(dependencies) }),
    sessionRoute({
      ...depositOperations.export,
      responseMsMax: exportMsMax,
      handle: exportDeposits(dependencies),
    }),
    sessionRoute({ ...links.getTimeline, handle: getLinkTimeline(dependencies) }),
    sessionRoute({ ...links.deactivate, handle: deactivateOwnLink(dependencies) }),
    sessionRoute({ ...refundOperations.record, handle: recordRefund(dependencies) }),
    sessionRoute({
      ...refundOperations.prepare,
      routeLimit: transactionRateLimit,
      handle: prepareRefund(dependencies),
    }),
  ];
};

/** Creates the routes of the checkout. Other payment clients can use them too. */
const createCheckoutRoutes = (dependencies: Dependencies): readonly Route[] => [
  publicRoute({ ...checkoutOperations.getLink, handle: getCheckoutLink(dependencies) }),
  publicRoute({
    ...checkoutOperations.followLink,
    isEndless: true,
    handle: streamCheckoutLink(dependencies),
  }),
  publicRoute({
    ...checkoutOperations.getTransaction,
    handle: getCheckoutTransaction(dependencies),
  }),
  publicRoute({
    ...checkoutOperations.getSolanaRequest,
    ...walletRouteOptions,
    handle: getSolanaRequest(dependencies),
  }),
  publicRoute({
    ...checkoutOperations.makeSolanaTransaction,
    routeLimit: transactionRateLimit,
    ...walletRouteOptions,
    handle: createSolanaTransaction(dependencies),
  }),
];

/** Some wallets are web pages with their own origin, so these routes allow any origin. */
const walletRouteOptions = { isForAnyOrigin: true, sendApiError: sendWalletError } as const;

/**
 * Creates the routes of the two OpenAPI documents: one for the public API, and one for the console
 * and the checkout.
 */
const createDocumentRoutes = (dependencies: Dependencies): readonly Route[] => [
  publicRoute({
    method: "get",
    path: "/v1/openapi.json",
    handle: getOpenapi(describePublicApi(dependencies)),
  }),
  publicRoute({
    method: "get",
    path: "/console/api/openapi.json",
    handle: getOpenapi(describeConsoleApi(dependencies)),
  }),
];

const createPageRoutes = (dependencies: Dependencies): readonly Route[] => [
  publicRoute({ method: "get", path: "/", sendApiError, handle: getHomePage }),
  publicRoute({ method: "get", path: "/favicon.svg", routeLimit: fileRateLimit, handle: getIcon }),
  publicRoute({ method: "get", path: "/favicon.ico", routeLimit: fileRateLimit, handle: getIcon }),
  publicRoute({
    method: "get",
    path: "/@:handle/pay/:id",
    sendApiError,
    handle: getCheckoutPage(dependencies),
  }),
  publicRoute({
    method: "get",
    path: "/tx/:id",
    sendApiError,
    handle: getTransactionPage(dependencies),
  }),
  publicRoute({
    method: "post",
    path: "/tx/:id",
    responseMsMax: receiptResponseMsMax,
    sendApiError,
    handle: sendReceipt(dependencies),
  }),
  publicRoute({
    method: "get",
    path: "/checkout/assets/:name",
    routeLimit: fileRateLimit,
    handle: getAsset,
  }),
  publicRoute({
    method: "get",
    path: "/checkout/logos/:chainId.svg",
    routeLimit: fileRateLimit,
    handle: getChainLogo(dependencies),
  }),
  publicRoute({ method: "get", path: "/checkout/qr/:id.svg", handle: getQr(dependencies) }),
  publicRoute({
    method: "get",
    path: "/checkout/qr/:id/payment.svg",
    handle: getPaymentQr(dependencies),
  }),
  publicRoute({
    method: "get",
    path: "/checkout/qr/:id/request.svg",
    handle: getRequestQr(dependencies),
  }),
];

const createConsolePageRoutes = (dependencies: Dependencies): readonly Route[] => {
  const getConsoleFiles = createConsoleFilesLoader();
  const pageRoute = {
    method: "get",
    sendApiError: sendConsoleError,
    handle: getConsolePage({ ...dependencies, getConsoleFiles }),
  } as const;
  const fileRoute = { method: "get", routeLimit: fileRateLimit } as const;
  return [
    publicRoute({
      ...fileRoute,
      path: "/console/assets/:name",
      handle: getBuiltAsset((name) => getConsoleFiles().find(name)),
    }),
    publicRoute({
      ...fileRoute,
      path: "/console/version",
      handle: getConsoleVersion(getConsoleFiles),
    }),
    publicRoute({ ...pageRoute, path: "/console" }),
    publicRoute({ ...pageRoute, path: "/console/*view" }),
  ];
};

const createDocsRoutes = (): readonly Route[] => {
  const getDocsFiles = createDocsFilesLoader();
  const pageRoute = { method: "get", sendApiError, handle: getDocsPage(getDocsFiles) } as const;
  return [
    publicRoute({ ...pageRoute, path: "/docs" }),
    publicRoute({ ...pageRoute, path: "/docs/:page" }),
    publicRoute({
      method: "get",
      path: "/docs/assets/:name",
      routeLimit: fileRateLimit,
      handle: getBuiltAsset((name) => getDocsFiles().findAsset(name)),
    }),
  ];
};

/**
 * Returns a link in the form of the checkout's response, with payment instructions even if the link
 * has ended.
 */
export type ReadEndedLink = (linkId: string, amount: Decimal | undefined) => Promise<CheckoutLink>;

/**
 * Creates the function that development uses to pay ended links. It is not available through any
 * route.
 */
export const createReadEndedLink =
  (dependencies: Dependencies): ReadEndedLink =>
  (linkId, amount) =>
    readCheckoutLink(dependencies, linkId, { amount, isEndedLinkAllowed: true });
