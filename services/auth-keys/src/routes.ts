import {
  accountOperations,
  apiKeyOperations,
  auditLogOperations,
  commandSignInOperations,
  identityOperations,
  notificationOperations,
  passkeyOperations,
  sessionOperations,
  signInOperations,
  walletOperations,
} from "@payment-links/contracts";
import {
  type InternalRoute,
  type Route,
  exportMsMax,
  publicRoute,
  sessionRoute,
} from "@payment-links/http";
import type { Dependencies } from "./dependencies.ts";
import { addPasskey } from "./http/add-passkey.ts";
import { addWallet } from "./http/add-wallet.ts";
import { allowCommandSignIn } from "./http/allow-command-sign-in.ts";
import { denyCommandSignIn } from "./http/deny-command-sign-in.ts";
import { getCommandSignIn } from "./http/get-command-sign-in.ts";
import { pollCommandSignIn } from "./http/poll-command-sign-in.ts";
import { startCommandSignIn } from "./http/start-command-sign-in.ts";
import { getLinkOwner } from "./http/get-link-owner.ts";
import { introspectCredential } from "./http/introspect-credential.ts";
import { sendReceipt } from "./http/send-receipt.ts";
import { sendSignInError } from "./http/send-sign-in-error.ts";
import { sendUnsubscribeError } from "./http/send-unsubscribe-page.ts";
import { changeAccount } from "./http/change-account.ts";
import { changeApiKey } from "./http/change-api-key.ts";
import { changeNotifications } from "./http/change-notifications.ts";
import { changePasskey } from "./http/change-passkey.ts";
import { changeWallet } from "./http/change-wallet.ts";
import { confirmNotificationAddress } from "./http/confirm-notification-address.ts";
import { createAccount } from "./http/create-account.ts";
import { createApiKey } from "./http/create-api-key.ts";
import { deleteWallet } from "./http/delete-wallet.ts";
import { disableLeakedKeys } from "./http/disable-leaked-keys.ts";
import { endSession } from "./http/end-session.ts";
import { exportAuditLog } from "./http/export-audit-log.ts";
import { finishOidc } from "./http/finish-oidc.ts";
import { getAccount } from "./http/get-account.ts";
import { getNotifications } from "./http/get-notifications.ts";
import { getNonce } from "./http/get-nonce.ts";
import { getUnsubscribePage } from "./http/get-unsubscribe-page.ts";
import { getPasskeyCreation } from "./http/get-passkey-creation.ts";
import { getPasskeyRequest } from "./http/get-passkey-request.ts";
import { getPicture } from "./http/get-picture.ts";
import { linkIdentity } from "./http/link-identity.ts";
import { listAllAudit } from "./http/list-all-audit.ts";
import { listAuditLog } from "./http/list-audit-log.ts";
import { listApiKeys } from "./http/list-api-keys.ts";
import { listIdentities } from "./http/list-identities.ts";
import { listPasskeys } from "./http/list-passkeys.ts";
import { listSessions } from "./http/list-sessions.ts";
import { listSignInMethods } from "./http/list-sign-in-methods.ts";
import { listTokens } from "./http/list-tokens.ts";
import { listWallets } from "./http/list-wallets.ts";
import { createSignInLink } from "./http/create-sign-in-link.ts";
import { provePresence } from "./http/prove-presence.ts";
import { removePasskey } from "./http/remove-passkey.ts";
import { removeNotificationAddress } from "./http/remove-notification-address.ts";
import { revokeApiKey } from "./http/revoke-api-key.ts";
import { revokeEverything } from "./http/revoke-everything.ts";
import { revokeOtherSessions } from "./http/revoke-other-sessions.ts";
import { revokeSession } from "./http/revoke-session.ts";
import { rotateApiKey } from "./http/rotate-api-key.ts";
import { setNotificationAddress } from "./http/set-notification-address.ts";
import { sendFormError, signInByForm } from "./http/sign-in-by-form.ts";
import { startOidc } from "./http/start-oidc.ts";
import { startSession } from "./http/start-session.ts";
import { resumeAccount, suspendAccount } from "./http/suspend-account.ts";
import { unlinkIdentity } from "./http/unlink-identity.ts";
import { unsubscribe } from "./http/unsubscribe.ts";
import { uploadPicture } from "./http/upload-picture.ts";
import { unverifyAccount, verifyAccount } from "./http/verify-account.ts";

/**
 * The time for three sequential requests to the identity provider at 5 s each, plus the usual
 * timeout.
 */
const oidcResponseMsMax = 3 * 5_000 + 5_500;

/** Converting one image can take a second of CPU time. */
const pictureRateLimit = { policy: "pictures", factor: 0.02 } as const;
/** Other images can be converted before this one. */
const pictureResponseMsMax = 10_000;

/** Builds all public routes (rule CALLER-6). */
export const createPublicRoutes = (dependencies: Dependencies): readonly Route[] => {
  const apiKeyOperationSet = apiKeyOperations(() => dependencies.clock.now());
  const walletOperationSet = walletOperations(dependencies.catalogue);
  return [
    ...createSignInRoutes(dependencies),
    sessionRoute({ ...sessionOperations.get, handle: getAccount(dependencies) }),
    sessionRoute({ ...sessionOperations.end, handle: endSession(dependencies) }),
    sessionRoute({ ...sessionOperations.provePresence, handle: provePresence(dependencies) }),
    sessionRoute({ ...sessionOperations.list, handle: listSessions(dependencies) }),
    sessionRoute({ ...sessionOperations.revoke, handle: revokeSession(dependencies) }),
    sessionRoute({ ...sessionOperations.revokeOthers, handle: revokeOtherSessions(dependencies) }),
    sessionRoute({ ...identityOperations.list, handle: listIdentities(dependencies) }),
    sessionRoute({ ...identityOperations.link, handle: linkIdentity(dependencies) }),
    sessionRoute({ ...identityOperations.unlink, handle: unlinkIdentity(dependencies) }),
    sessionRoute({ ...passkeyOperations.list, handle: listPasskeys(dependencies) }),
    sessionRoute({
      ...passkeyOperations.getCreationOptions,
      handle: getPasskeyCreation(dependencies),
    }),
    sessionRoute({ ...passkeyOperations.add, handle: addPasskey(dependencies) }),
    sessionRoute({ ...passkeyOperations.change, handle: changePasskey(dependencies) }),
    sessionRoute({ ...passkeyOperations.remove, handle: removePasskey(dependencies) }),
    sessionRoute({ ...accountOperations.get, handle: getAccount(dependencies) }),
    sessionRoute({ ...accountOperations.change, handle: changeAccount(dependencies) }),
    ...createPictureRoutes(dependencies),
    ...createCommandSignInRoutes(dependencies),
    ...createNotificationRoutes(dependencies),
    sessionRoute({ ...walletOperationSet.listTokens, handle: listTokens(dependencies) }),
    sessionRoute({ ...walletOperationSet.list, handle: listWallets(dependencies) }),
    sessionRoute({ ...walletOperationSet.add, handle: addWallet(dependencies) }),
    sessionRoute({ ...walletOperationSet.change, handle: changeWallet(dependencies) }),
    sessionRoute({ ...walletOperationSet.delete, handle: deleteWallet(dependencies) }),
    sessionRoute({ ...apiKeyOperationSet.list, handle: listApiKeys(dependencies) }),
    sessionRoute({ ...apiKeyOperationSet.create, handle: createApiKey(dependencies) }),
    sessionRoute({ ...apiKeyOperationSet.change, handle: changeApiKey(dependencies) }),
    sessionRoute({ ...apiKeyOperationSet.revoke, handle: revokeApiKey(dependencies) }),
    sessionRoute({ ...apiKeyOperationSet.rotate, handle: rotateApiKey(dependencies) }),
    sessionRoute({ ...auditLogOperations.list, handle: listAuditLog(dependencies) }),
    sessionRoute({
      ...auditLogOperations.export,
      responseMsMax: exportMsMax,
      handle: exportAuditLog(dependencies),
    }),
  ];
};

/** Builds the routes for uploaded profile pictures. */
const createPictureRoutes = (dependencies: Dependencies): readonly Route[] => [
  sessionRoute({
    ...accountOperations.uploadPicture,
    routeLimit: pictureRateLimit,
    largeBodies: dependencies.pictureBodies,
    responseMsMax: pictureResponseMsMax,
    handle: uploadPicture(dependencies),
  }),
  publicRoute({
    method: "get",
    path: "/checkout/pictures/:digest",
    handle: getPicture(dependencies),
  }),
];

/** Each started sign-in is a row for 10 minutes. */
const startRateLimit = {
  policy: "command-sign-ins",
  limit: { tokensPerSecond: 0.1, burst: 20 },
} as const;
/** Guessing one of 1,000 pending codes at this rate takes 40 years on average. */
const codeRateLimit = {
  policy: "command-codes",
  limit: { tokensPerSecond: 0.02, burst: 60 },
} as const;

/** Builds the routes with which command lines sign in (rule CALLER-47). */
const createCommandSignInRoutes = (dependencies: Dependencies): readonly Route[] => {
  const { allow, deny, get, poll, start } = commandSignInOperations;
  const routeLimit = codeRateLimit;
  return [
    publicRoute({
      ...start,
      routeLimit: startRateLimit,
      handle: startCommandSignIn(dependencies),
    }),
    publicRoute({ ...poll, handle: pollCommandSignIn(dependencies) }),
    sessionRoute({ ...get, routeLimit, handle: getCommandSignIn(dependencies) }),
    sessionRoute({ ...allow, routeLimit, handle: allowCommandSignIn(dependencies) }),
    sessionRoute({ ...deny, routeLimit, handle: denyCommandSignIn(dependencies) }),
  ];
};

/** No session cookie is sent to this path (rule MAIL-7). */
const unsubscribeRoute = {
  path: "/console/api/unsubscribe/:token",
  sendApiError: sendUnsubscribeError,
} as const;

/** Builds the routes for the account's email notifications. */
const createNotificationRoutes = (dependencies: Dependencies): readonly Route[] => {
  const { change, confirmAddress, get, removeAddress, setAddress } = notificationOperations;
  return [
    sessionRoute({ ...get, handle: getNotifications(dependencies) }),
    sessionRoute({ ...change, handle: changeNotifications(dependencies) }),
    sessionRoute({ ...setAddress, handle: setNotificationAddress(dependencies) }),
    sessionRoute({ ...confirmAddress, handle: confirmNotificationAddress(dependencies) }),
    sessionRoute({ ...removeAddress, handle: removeNotificationAddress(dependencies) }),
    publicRoute({
      method: "get",
      ...unsubscribeRoute,
      handle: getUnsubscribePage(dependencies),
    }),
    publicRoute({ method: "post", ...unsubscribeRoute, handle: unsubscribe(dependencies) }),
  ];
};

/** Builds the sign-in routes, which need no session. */
const createSignInRoutes = (dependencies: Dependencies): readonly Route[] => {
  const sendApiError = sendSignInError(dependencies);
  const {
    finishOidc: finishOidcOperation,
    startOidc: startOidcOperation,
    ...otherOperations
  } = signInOperations;
  return [
    publicRoute({ ...otherOperations.start, handle: startSession(dependencies) }),
    publicRoute({ ...otherOperations.getLinkOwner, handle: getLinkOwner(dependencies) }),
    publicRoute({
      method: "post",
      path: "/console/api/session/form",
      sendApiError: sendFormError,
      handle: signInByForm(dependencies),
    }),
    publicRoute({ ...otherOperations.listMethods, handle: listSignInMethods(dependencies) }),
    publicRoute({ ...otherOperations.getNonce, handle: getNonce(dependencies) }),
    publicRoute({ ...otherOperations.getPasskeyRequest, handle: getPasskeyRequest(dependencies) }),
    publicRoute({
      ...startOidcOperation,
      responseMsMax: oidcResponseMsMax,
      sendApiError,
      handle: startOidc(dependencies),
    }),
    publicRoute({
      ...finishOidcOperation,
      responseMsMax: oidcResponseMsMax,
      sendApiError,
      handle: finishOidc(dependencies),
    }),
  ];
};

/** Builds all routes for other services and operators. */
export const createInternalRoutes = (dependencies: Dependencies): readonly InternalRoute[] => [
  {
    method: "post",
    path: "/internal/introspect",
    isForServices: true,
    handle: introspectCredential(dependencies),
  },
  {
    method: "post",
    path: "/internal/receipts",
    isForServices: true,
    handle: sendReceipt(dependencies),
  },
  { method: "post", path: "/internal/accounts", handle: createAccount(dependencies) },
  { method: "post", path: "/internal/accounts/suspend", handle: suspendAccount(dependencies) },
  { method: "post", path: "/internal/accounts/resume", handle: resumeAccount(dependencies) },
  { method: "post", path: "/internal/accounts/verify", handle: verifyAccount(dependencies) },
  { method: "post", path: "/internal/accounts/unverify", handle: unverifyAccount(dependencies) },
  {
    method: "post",
    path: "/internal/accounts/revoke-everything",
    handle: revokeEverything(dependencies),
  },
  { method: "get", path: "/internal/audit-log", handle: listAllAudit(dependencies) },
  { method: "post", path: "/internal/sign-in-links", handle: createSignInLink(dependencies) },
  { method: "post", path: "/internal/leaked-keys", handle: disableLeakedKeys(dependencies) },
];
