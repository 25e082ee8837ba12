import {
  accountOperations,
  apiKeyOperations,
  auditLogOperations,
  identityOperations,
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
import type { Deps } from "./deps.ts";
import { addPasskey } from "./http/add-passkey.ts";
import { addWallet } from "./http/add-wallet.ts";
import { askAboutLink } from "./http/ask-about-link.ts";
import { answerIntrospection } from "./http/answer-introspection.ts";
import { answerSignInRefusal } from "./http/answer-sign-in-refusal.ts";
import { changeAccount } from "./http/change-account.ts";
import { changeApiKey } from "./http/change-api-key.ts";
import { changePasskey } from "./http/change-passkey.ts";
import { changeWallet } from "./http/change-wallet.ts";
import { createAccount } from "./http/create-account.ts";
import { createApiKey } from "./http/create-api-key.ts";
import { deleteWallet } from "./http/delete-wallet.ts";
import { disableLeakedKeys } from "./http/disable-leaked-keys.ts";
import { endSession } from "./http/end-session.ts";
import { exportAuditLog } from "./http/export-audit-log.ts";
import { finishOidc } from "./http/finish-oidc.ts";
import { getAccount } from "./http/get-account.ts";
import { getNonce } from "./http/get-nonce.ts";
import { getPasskeyCreation } from "./http/get-passkey-creation.ts";
import { getPasskeyRequest } from "./http/get-passkey-request.ts";
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
import { makeSignInLink } from "./http/make-sign-in-link.ts";
import { provePresence } from "./http/prove-presence.ts";
import { removePasskey } from "./http/remove-passkey.ts";
import { revokeApiKey } from "./http/revoke-api-key.ts";
import { revokeEverything } from "./http/revoke-everything.ts";
import { revokeSession } from "./http/revoke-session.ts";
import { rotateApiKey } from "./http/rotate-api-key.ts";
import { answerFormRefusal, signInByForm } from "./http/sign-in-by-form.ts";
import { startOidc } from "./http/start-oidc.ts";
import { startSession } from "./http/start-session.ts";
import { resumeAccount, suspendAccount } from "./http/suspend-account.ts";
import { unlinkIdentity } from "./http/unlink-identity.ts";
import { unverifyAccount, verifyAccount } from "./http/verify-account.ts";

/** Where identity providers send browsers back to. They know it by registration. */
export const oidcCallbackPath = signInOperations.finishOidc.path;

/** Three questions to the identity provider, 5 s each and one after the other; then as long as usual. */
const oidcMsMax = 3 * 5_000 + 5_500;

/** Every public route (rule CALLER-6). */
export const publicRoutes = (deps: Deps): readonly Route[] => {
  const apiKeys = apiKeyOperations(() => deps.clock.now());
  const wallets = walletOperations(deps.catalogue);
  return [
    ...signInRoutes(deps),
    sessionRoute({ ...sessionOperations.get, handle: getAccount(deps) }),
    sessionRoute({ ...sessionOperations.end, handle: endSession(deps) }),
    sessionRoute({ ...sessionOperations.prove, handle: provePresence(deps) }),
    sessionRoute({ ...sessionOperations.list, handle: listSessions(deps) }),
    sessionRoute({ ...sessionOperations.revoke, handle: revokeSession(deps) }),
    sessionRoute({ ...identityOperations.list, handle: listIdentities(deps) }),
    sessionRoute({ ...identityOperations.link, handle: linkIdentity(deps) }),
    sessionRoute({ ...identityOperations.unlink, handle: unlinkIdentity(deps) }),
    sessionRoute({ ...passkeyOperations.list, handle: listPasskeys(deps) }),
    sessionRoute({ ...passkeyOperations.create, handle: getPasskeyCreation(deps) }),
    sessionRoute({ ...passkeyOperations.add, handle: addPasskey(deps) }),
    sessionRoute({ ...passkeyOperations.change, handle: changePasskey(deps) }),
    sessionRoute({ ...passkeyOperations.remove, handle: removePasskey(deps) }),
    sessionRoute({ ...accountOperations.get, handle: getAccount(deps) }),
    sessionRoute({ ...accountOperations.change, handle: changeAccount(deps) }),
    sessionRoute({ ...wallets.listTokens, handle: listTokens(deps) }),
    sessionRoute({ ...wallets.list, handle: listWallets(deps) }),
    sessionRoute({ ...wallets.add, handle: addWallet(deps) }),
    sessionRoute({ ...wallets.change, handle: changeWallet(deps) }),
    sessionRoute({ ...wallets.delete, handle: deleteWallet(deps) }),
    sessionRoute({ ...apiKeys.list, handle: listApiKeys(deps) }),
    sessionRoute({ ...apiKeys.create, handle: createApiKey(deps) }),
    sessionRoute({ ...apiKeys.change, handle: changeApiKey(deps) }),
    sessionRoute({ ...apiKeys.revoke, handle: revokeApiKey(deps) }),
    sessionRoute({ ...apiKeys.rotate, handle: rotateApiKey(deps) }),
    sessionRoute({ ...auditLogOperations.list, handle: listAuditLog(deps) }),
    sessionRoute({
      ...auditLogOperations.export,
      answerMsMax: exportMsMax,
      handle: exportAuditLog(deps),
    }),
  ];
};

/** The ways into a session, which anybody may call. */
const signInRoutes = (deps: Deps): readonly Route[] => {
  const answerRefusal = answerSignInRefusal(deps);
  const { finishOidc: finish, startOidc: start, ...others } = signInOperations;
  return [
    publicRoute({ ...others.start, handle: startSession(deps) }),
    publicRoute({ ...others.askAboutLink, handle: askAboutLink(deps) }),
    publicRoute({
      method: "post",
      path: "/console/api/session/form",
      answerRefusal: answerFormRefusal,
      handle: signInByForm(deps),
    }),
    publicRoute({ ...others.listMethods, handle: listSignInMethods(deps) }),
    publicRoute({ ...others.getNonce, handle: getNonce(deps) }),
    publicRoute({ ...others.getPasskeyRequest, handle: getPasskeyRequest(deps) }),
    publicRoute({ ...start, answerMsMax: oidcMsMax, answerRefusal, handle: startOidc(deps) }),
    publicRoute({ ...finish, answerMsMax: oidcMsMax, answerRefusal, handle: finishOidc(deps) }),
  ];
};

/** Every route for the other services and for operators. */
export const internalRoutes = (deps: Deps): readonly InternalRoute[] => [
  {
    method: "post",
    path: "/internal/introspect",
    isForServices: true,
    handle: answerIntrospection(deps),
  },
  { method: "post", path: "/internal/accounts", handle: createAccount(deps) },
  { method: "post", path: "/internal/accounts/suspend", handle: suspendAccount(deps) },
  { method: "post", path: "/internal/accounts/resume", handle: resumeAccount(deps) },
  { method: "post", path: "/internal/accounts/verify", handle: verifyAccount(deps) },
  { method: "post", path: "/internal/accounts/unverify", handle: unverifyAccount(deps) },
  {
    method: "post",
    path: "/internal/accounts/revoke-everything",
    handle: revokeEverything(deps),
  },
  { method: "get", path: "/internal/audit-log", handle: listAllAudit(deps) },
  { method: "post", path: "/internal/sign-in-links", handle: makeSignInLink(deps) },
  { method: "post", path: "/internal/leaked-keys", handle: disableLeakedKeys(deps) },
];
