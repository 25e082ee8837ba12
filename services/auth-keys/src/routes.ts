import { type InternalRoute, type Route, publicRoute, sessionRoute } from "@payment-links/http";
import type { Deps } from "./deps.ts";
import { addWallet } from "./http/add-wallet.ts";
import { answerIntrospection } from "./http/answer-introspection.ts";
import { answerSignInRefusal } from "./http/answer-sign-in-refusal.ts";
import { changeAccount } from "./http/change-account.ts";
import { changeApiKey } from "./http/change-api-key.ts";
import { changeWallet } from "./http/change-wallet.ts";
import { createAccount } from "./http/create-account.ts";
import { createApiKey } from "./http/create-api-key.ts";
import { deleteWallet } from "./http/delete-wallet.ts";
import { endSession } from "./http/end-session.ts";
import { finishOidc } from "./http/finish-oidc.ts";
import { getAccount } from "./http/get-account.ts";
import { getNonce } from "./http/get-nonce.ts";
import { linkIdentity } from "./http/link-identity.ts";
import { listAuditLog } from "./http/list-audit-log.ts";
import { listApiKeys } from "./http/list-api-keys.ts";
import { listIdentities } from "./http/list-identities.ts";
import { listSessions } from "./http/list-sessions.ts";
import { listSignInMethods } from "./http/list-sign-in-methods.ts";
import { listTokens } from "./http/list-tokens.ts";
import { listWallets } from "./http/list-wallets.ts";
import { makeSignInLink } from "./http/make-sign-in-link.ts";
import { republishAccounts } from "./http/republish-accounts.ts";
import { revokeApiKey } from "./http/revoke-api-key.ts";
import { revokeSession } from "./http/revoke-session.ts";
import { rotateApiKey } from "./http/rotate-api-key.ts";
import { startOidc } from "./http/start-oidc.ts";
import { startSession } from "./http/start-session.ts";
import { unlinkIdentity } from "./http/unlink-identity.ts";

const session = "/console/api/session";
const sessions = "/console/api/sessions";
const identities = "/console/api/identities";
const account = "/console/api/account";
const wallets = "/console/api/wallets";
const apiKeys = "/console/api/api-keys";

/** Where identity providers send browsers back to. They know it by registration. */
export const oidcCallbackPath = `${session}/oidc/callback`;

/** Every public route (rule CALLER-6). */
export const publicRoutes = (deps: Deps): readonly Route[] => [
  ...signInRoutes(deps),
  sessionRoute({ method: "get", path: session, handle: getAccount(deps) }),
  sessionRoute({ method: "delete", path: session, handle: endSession(deps) }),
  sessionRoute({ method: "get", path: sessions, handle: listSessions(deps) }),
  sessionRoute({ method: "delete", path: `${sessions}/:id`, handle: revokeSession(deps) }),
  sessionRoute({ method: "get", path: identities, handle: listIdentities(deps) }),
  sessionRoute({ method: "post", path: identities, handle: linkIdentity(deps) }),
  sessionRoute({ method: "delete", path: `${identities}/:id`, handle: unlinkIdentity(deps) }),
  sessionRoute({ method: "get", path: account, handle: getAccount(deps) }),
  sessionRoute({ method: "patch", path: account, handle: changeAccount(deps) }),
  sessionRoute({ method: "get", path: "/console/api/tokens", handle: listTokens(deps) }),
  sessionRoute({ method: "get", path: wallets, handle: listWallets(deps) }),
  sessionRoute({ method: "post", path: wallets, handle: addWallet(deps) }),
  sessionRoute({ method: "patch", path: `${wallets}/:id`, handle: changeWallet(deps) }),
  sessionRoute({ method: "delete", path: `${wallets}/:id`, handle: deleteWallet(deps) }),
  sessionRoute({ method: "get", path: apiKeys, handle: listApiKeys(deps) }),
  sessionRoute({ method: "post", path: apiKeys, handle: createApiKey(deps) }),
  sessionRoute({ method: "patch", path: `${apiKeys}/:id`, handle: changeApiKey(deps) }),
  sessionRoute({ method: "delete", path: `${apiKeys}/:id`, handle: revokeApiKey(deps) }),
  sessionRoute({ method: "post", path: `${apiKeys}/:id/rotate`, handle: rotateApiKey(deps) }),
  sessionRoute({ method: "get", path: "/console/api/audit-log", handle: listAuditLog(deps) }),
];

/** The ways into a session, which anybody may call. */
const signInRoutes = (deps: Deps): readonly Route[] => {
  const answerRefusal = answerSignInRefusal(deps);
  const oidc = { method: "get", answerRefusal } as const;
  return [
    publicRoute({ method: "post", path: session, handle: startSession(deps) }),
    publicRoute({ method: "get", path: `${session}/methods`, handle: listSignInMethods(deps) }),
    publicRoute({ method: "get", path: `${session}/nonce`, handle: getNonce(deps) }),
    publicRoute({ ...oidc, path: `${session}/oidc`, handle: startOidc(deps) }),
    publicRoute({ ...oidc, path: oidcCallbackPath, handle: finishOidc(deps) }),
  ];
};

/** Every route for the other services and for operators. */
export const internalRoutes = (deps: Deps): readonly InternalRoute[] => [
  { method: "post", path: "/internal/introspect", handle: answerIntrospection(deps) },
  { method: "post", path: "/internal/accounts", handle: createAccount(deps) },
  { method: "post", path: "/internal/sign-in-links", handle: makeSignInLink(deps) },
  { method: "post", path: "/internal/republish/accounts", handle: republishAccounts(deps) },
];
