import {
  type CheckoutLink,
  type Decimal,
  checkoutOperations,
  consoleLinkOperations,
  depositOperations,
  exportOperations,
  overviewOperations,
  publicLinkOperations,
} from "@payment-links/contracts";
import { type Route, exportMsMax, keyRoute, publicRoute, sessionRoute } from "@payment-links/http";
import type { Deps } from "./deps.ts";
import { assignOwnDeposit } from "./http/assign-deposit.ts";
import { createLink } from "./http/create-link.ts";
import { deactivateOwnLink } from "./http/deactivate-link.ts";
import { describeConsoleApi } from "./http/describe-console-api.ts";
import { describePublicApi } from "./http/describe-public-api.ts";
import { dismissOwnDeposit } from "./http/dismiss-deposit.ts";
import { exportDeposits } from "./http/export-deposits.ts";
import { exportLinks } from "./http/export-links.ts";
import { exportPayments } from "./http/export-payments.ts";
import { getCheckoutLink } from "./http/get-checkout-link.ts";
import { getCheckoutTransaction } from "./http/get-checkout-transaction.ts";
import { getConsoleLink } from "./http/get-console-link.ts";
import { getLinkStory } from "./http/get-link-story.ts";
import { getLink } from "./http/get-link.ts";
import { getOpenapi } from "./http/get-openapi.ts";
import { getOverview } from "./http/get-overview.ts";
import { listOwnDeposits } from "./http/list-deposits.ts";
import { listLinkPayments } from "./http/list-link-payments.ts";
import { listOwnLinks } from "./http/list-links.ts";
import { readCheckoutLink } from "./http/read-checkout-link.ts";
import { suggestOwnFirstIndex } from "./http/suggest-first-index.ts";
import { streamCheckoutLink } from "./http/stream-checkout-link.ts";
import { searchOwnLinks } from "./http/search-links.ts";
import { answerPageRefusal as answerRefusal } from "./pages/answer-page.ts";
import { answerWalletRefusal } from "./pages/answer-wallet.ts";
import { createConsoleFiles } from "./pages/console-files.ts";
import { getAsset } from "./pages/get-asset.ts";
import { getChainLogo } from "./pages/get-chain-logo.ts";
import { getCheckoutPage } from "./pages/get-checkout-page.ts";
import { getConsoleAsset, getConsoleVersion } from "./pages/get-console-asset.ts";
import { answerConsoleRefusal, getConsolePage } from "./pages/get-console-page.ts";
import { getHomePage } from "./pages/get-home-page.ts";
import { getIcon } from "./pages/get-icon.ts";
import { getPaymentQr } from "./pages/get-payment-qr.ts";
import { getQr } from "./pages/get-qr.ts";
import { getRequestQr } from "./pages/get-request-qr.ts";
import { getSolanaRequest } from "./pages/get-solana-request.ts";
import { getTransactionPage } from "./pages/get-transaction-page.ts";
import { makeSolanaTransaction } from "./pages/make-solana-transaction.ts";

export { answerUnknown } from "./pages/answer-unknown.ts";

/** Files: a page needs several at once, and each costs little. */
const files = { policy: "files", times: 3 } as const;
/** Transactions for payers: each asks a node, and a payer needs one or two. */
const transactions = { policy: "transactions", times: 0.1 } as const;

/** Every public route. */
export const publicRoutes = (deps: Deps): readonly Route[] => [
  ...apiRoutes(deps),
  ...consoleRoutes(deps),
  ...checkoutRoutes(deps),
  ...documentRoutes(deps),
  ...pageRoutes(deps),
  ...consolePageRoutes(deps),
];

const apiRoutes = (deps: Deps): readonly Route[] => {
  const { create, list, retrieve } = publicLinkOperations(deps.createBody);
  return [
    keyRoute({ ...create, scope: create.caller, handle: createLink(deps, "key") }),
    keyRoute({ ...list, scope: list.caller, handle: listOwnLinks(deps) }),
    publicRoute({ ...retrieve, handle: getLink(deps) }),
  ];
};

const consoleRoutes = (deps: Deps): readonly Route[] => {
  const links = consoleLinkOperations(deps.createBody);
  return [
    sessionRoute({ ...overviewOperations.get, handle: getOverview(deps) }),
    sessionRoute({ ...links.list, handle: searchOwnLinks(deps) }),
    sessionRoute({ ...links.create, handle: createLink(deps, "person") }),
    sessionRoute({ ...links.suggestFirstIndex, handle: suggestOwnFirstIndex(deps) }),
    sessionRoute({ ...links.get, handle: getConsoleLink(deps) }),
    sessionRoute({ ...links.listPayments, handle: listLinkPayments(deps) }),
    sessionRoute({
      ...exportOperations.links,
      answerMsMax: exportMsMax,
      handle: exportLinks(deps),
    }),
    sessionRoute({
      ...exportOperations.payments,
      answerMsMax: exportMsMax,
      handle: exportPayments(deps),
    }),
    sessionRoute({ ...depositOperations.list, handle: listOwnDeposits(deps) }),
    sessionRoute({ ...depositOperations.assign, handle: assignOwnDeposit(deps) }),
    sessionRoute({ ...depositOperations.dismiss, handle: dismissOwnDeposit(deps) }),
    sessionRoute({
      ...depositOperations.export,
      answerMsMax: exportMsMax,
      handle: exportDeposits(deps),
    }),
    sessionRoute({ ...links.getStory, handle: getLinkStory(deps) }),
    sessionRoute({ ...links.deactivate, handle: deactivateOwnLink(deps) }),
  ];
};

/** What the checkout page needs, and anybody who pays without it. */
const checkoutRoutes = (deps: Deps): readonly Route[] => [
  publicRoute({ ...checkoutOperations.getLink, handle: getCheckoutLink(deps) }),
  publicRoute({
    ...checkoutOperations.followLink,
    isEndless: true,
    handle: streamCheckoutLink(deps),
  }),
  publicRoute({ ...checkoutOperations.getTransaction, handle: getCheckoutTransaction(deps) }),
  publicRoute({
    ...checkoutOperations.getSolanaRequest,
    ...forWallets,
    handle: getSolanaRequest(deps),
  }),
  publicRoute({
    ...checkoutOperations.makeSolanaTransaction,
    ownLimit: transactions,
    ...forWallets,
    handle: makeSolanaTransaction(deps),
  }),
];

/** Some wallets are pages of their own origin. */
const forWallets = { isForAnyOrigin: true, answerRefusal: answerWalletRefusal } as const;

/** The descriptions of the public API, and of the console with the checkout. */
const documentRoutes = (deps: Deps): readonly Route[] => [
  publicRoute({
    method: "get",
    path: "/v1/openapi.json",
    handle: getOpenapi(describePublicApi(deps)),
  }),
  publicRoute({
    method: "get",
    path: "/console/api/openapi.json",
    handle: getOpenapi(describeConsoleApi(deps)),
  }),
];

const pageRoutes = (deps: Deps): readonly Route[] => [
  publicRoute({ method: "get", path: "/", answerRefusal, handle: getHomePage }),
  publicRoute({ method: "get", path: "/favicon.svg", ownLimit: files, handle: getIcon }),
  publicRoute({ method: "get", path: "/favicon.ico", ownLimit: files, handle: getIcon }),
  publicRoute({
    method: "get",
    path: "/@:handle/pay/:id",
    answerRefusal,
    handle: getCheckoutPage(deps),
  }),
  publicRoute({ method: "get", path: "/tx/:id", answerRefusal, handle: getTransactionPage(deps) }),
  publicRoute({
    method: "get",
    path: "/checkout/assets/:name",
    ownLimit: files,
    handle: getAsset,
  }),
  publicRoute({
    method: "get",
    path: "/checkout/logos/:chainId.svg",
    ownLimit: files,
    handle: getChainLogo(deps),
  }),
  publicRoute({ method: "get", path: "/checkout/qr/:id.svg", handle: getQr(deps) }),
  publicRoute({ method: "get", path: "/checkout/qr/:id/payment.svg", handle: getPaymentQr(deps) }),
  publicRoute({ method: "get", path: "/checkout/qr/:id/request.svg", handle: getRequestQr(deps) }),
];

const consolePageRoutes = (deps: Deps): readonly Route[] => {
  const openFiles = createConsoleFiles();
  const page = {
    method: "get",
    answerRefusal: answerConsoleRefusal,
    handle: getConsolePage({ ...deps, openFiles }),
  } as const;
  const file = { method: "get", ownLimit: files } as const;
  return [
    publicRoute({ ...file, path: "/console/assets/:name", handle: getConsoleAsset(openFiles) }),
    publicRoute({ ...file, path: "/console/version", handle: getConsoleVersion(openFiles) }),
    publicRoute({ ...page, path: "/console" }),
    publicRoute({ ...page, path: "/console/*view" }),
  ];
};

/** Returns a link as the checkout shows it, with instructions although it has ended. */
export type ReadEndedLink = (linkId: string, amount: Decimal | undefined) => Promise<CheckoutLink>;

/** Creates what development pays ended links by. No route answers it. */
export const createReadEndedLink =
  (deps: Deps): ReadEndedLink =>
  (linkId, amount) =>
    readCheckoutLink(deps, linkId, { amount, isEndIgnored: true });
