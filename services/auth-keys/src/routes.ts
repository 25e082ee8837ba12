import { type InternalRoute, type Route, publicRoute, sessionRoute } from "@payment-links/http";
import type { Deps } from "./deps.ts";
import { addWallet } from "./http/add-wallet.ts";
import { answerIntrospection } from "./http/answer-introspection.ts";
import { changeAccount } from "./http/change-account.ts";
import { changeApiKey } from "./http/change-api-key.ts";
import { changeWallet } from "./http/change-wallet.ts";
import { createAccount } from "./http/create-account.ts";
import { createApiKey } from "./http/create-api-key.ts";
import { deleteWallet } from "./http/delete-wallet.ts";
import { endSession } from "./http/end-session.ts";
import { getAccount } from "./http/get-account.ts";
import { listApiKeys } from "./http/list-api-keys.ts";
import { listTokens } from "./http/list-tokens.ts";
import { listWallets } from "./http/list-wallets.ts";
import { makeSignInLink } from "./http/make-sign-in-link.ts";
import { republishAccounts } from "./http/republish-accounts.ts";
import { revokeApiKey } from "./http/revoke-api-key.ts";
import { startSession } from "./http/start-session.ts";

const session = "/console/api/session";
const account = "/console/api/account";
const wallets = "/console/api/wallets";
const apiKeys = "/console/api/api-keys";

/** Every public route (interfaces §3). */
export const publicRoutes = (deps: Deps): readonly Route[] => [
  publicRoute({ method: "post", path: session, handle: startSession(deps) }),
  sessionRoute({ method: "get", path: session, handle: getAccount(deps) }),
  sessionRoute({ method: "delete", path: session, handle: endSession(deps) }),
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
];

/** Every route for the other services and for operators. */
export const internalRoutes = (deps: Deps): readonly InternalRoute[] => [
  { method: "post", path: "/internal/introspect", handle: answerIntrospection(deps) },
  { method: "post", path: "/internal/accounts", handle: createAccount(deps) },
  { method: "post", path: "/internal/sign-in-links", handle: makeSignInLink(deps) },
  { method: "post", path: "/internal/republish/accounts", handle: republishAccounts(deps) },
];
