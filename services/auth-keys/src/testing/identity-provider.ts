import { type IncomingMessage, type ServerResponse, createServer } from "node:http";
import { exportJWK, generateKeyPair } from "jose";
import { Provider } from "oidc-provider";
import { createMemoryAdapter } from "oidc-provider/lib/adapters/memory_adapter.js";
import { listenOnFreePort } from "@payment-links/runtime/testing/free-port";
import type { OidcClient } from "../config.ts";

const clientId = "payment-links";
const clientSecret = "a client secret of the test";

type ProviderOptions = { redirectUri: string };

/**
 * Starts a certified identity provider on loopback that asks for no password: everyone signs in as
 * `user`. It can rotate its signing key, and stop and restart at the same address.
 */
export const startIdentityProvider = async ({ redirectUri }: ProviderOptions) => {
  const user = {
    subject: "subject-1",
    name: "Ada Example" as string | undefined,
    groups: ["staff"],
  };
  let handle = (_req: IncomingMessage, res: ServerResponse): void => void res.end();
  let server = createServer((req, res) => handle(req, res));
  const port = await listenOnFreePort(server);
  const issuer = `http://127.0.0.1:${port}`;

  const useSigningKey = async (kid: string): Promise<void> => {
    const { privateKey } = await generateKeyPair("RS256", { extractable: true });
    const key = { ...(await exportJWK(privateKey)), kid, alg: "RS256", use: "sig" };
    const provider = createProvider({ issuer, redirectUri, key, user });
    const callback = provider.callback();
    handle = (req, res) => {
      const isLogin = req.url?.startsWith("/interaction/") === true;
      void (isLogin ? finishLogin(provider, user.subject, req, res) : callback(req, res));
    };
  };
  await useSigningKey("first");

  const close = () =>
    new Promise<void>((resolve) => {
      server.close(() => resolve());
      server.closeAllConnections();
    });
  const client: OidcClient = {
    issuer,
    clientId,
    clientSecret,
    scopes: "openid profile",
    allowedGroups: undefined,
  };
  return {
    client,
    user,
    /** Rotates the signing key, as after a restart. The previous key becomes unknown. */
    useSigningKey,
    stop: close,
    restart: async () => {
      server = createServer((req, res) => handle(req, res));
      await new Promise<void>((resolve) => void server.listen(port, "127.0.0.1", resolve));
    },
    close,
  };
};
export type IdentityProvider = Awaited<ReturnType<typeof startIdentityProvider>>;

type ProviderSetup = {
  issuer: string;
  redirectUri: string;
  key: object;
  user: { name: string | undefined; groups: string[] };
};

const createProvider = ({ issuer, redirectUri, key, user }: ProviderSetup): Provider =>
  new Provider(issuer, {
    adapter: createMemoryAdapter(0),
    clients: [{ client_id: clientId, client_secret: clientSecret, redirect_uris: [redirectUri] }],
    jwks: { keys: [key] },
    cookies: { keys: ["a cookie key of the test"] },
    claims: { profile: ["name", "groups"] },
    conformIdTokenClaims: false,
    features: { devInteractions: { enabled: false } },
    interactions: { url: (_ctx, { uid }) => `/interaction/${uid}` },
    // The test's clock may be hours ahead of the provider's.
    ttl: { Session: 600, Grant: 600, Interaction: 600, AccessToken: 600, IdToken: 86_400 },
    findAccount: (_ctx, accountId) => ({
      accountId,
      claims: () => ({
        sub: accountId,
        ...(user.name === undefined ? {} : user),
        groups: user.groups,
      }),
    }),
    // The provider treats every user who signs in as having given consent.
    loadExistingGrant: async ({ oidc }) => {
      const { session } = oidc;
      const grantId = session?.grantIdFor(clientId);
      const existingGrant =
        grantId === undefined ? undefined : await oidc.provider.Grant.find(grantId);
      if (existingGrant !== undefined) return existingGrant;
      const accountId = session?.accountId;
      const grant = new oidc.provider.Grant({
        clientId,
        ...(accountId === undefined ? {} : { accountId }),
      });
      grant.addOIDCScope("openid profile");
      await grant.save();
      return grant;
    },
  });

const finishLogin = async (
  provider: Provider,
  accountId: string,
  req: IncomingMessage,
  res: ServerResponse,
): Promise<void> => provider.interactionFinished(req, res, { login: { accountId } });
