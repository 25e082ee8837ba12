import { type ServerResponse, createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { text } from "node:stream/consumers";
import { type CryptoKey, SignJWT, exportJWK, generateKeyPair } from "jose";
import type { OidcClient } from "../config.ts";

type IssuerResponse = { status: number; body: string; headers?: Record<string, string> };
type TokenRequest = { authorization: string | undefined; form: URLSearchParams };

const clientId = "payment-links";
const clientSecret = "a client: secret/of the test";

const createJsonResponse = (status: number, body: unknown): IssuerResponse => ({
  status,
  body: JSON.stringify(body),
});

/** Creates a signing key. */
const createKey = async () => generateKeyPair("RS256", { extractable: true });

/**
 * Starts an issuer on loopback that responds with whatever a test needs, which a certified one
 * cannot. The test itself creates the ID token, the keys and the responses. There are no users, and
 * the authorization codes are made up.
 */
export const startTamperingIssuer = async () => {
  const keys = await createKey();
  const requests: TokenRequest[] = [];
  const responses: {
    token: IssuerResponse | undefined;
    keys: IssuerResponse;
    metadata: IssuerResponse | undefined;
  } = {
    token: undefined,
    keys: createJsonResponse(200, {
      keys: [{ ...(await exportJWK(keys.publicKey)), kid: "k", use: "sig" }],
    }),
    metadata: undefined,
  };
  const hooks: { beforeResponse: (path: string) => Promise<void> } = {
    beforeResponse: () => Promise.resolve(),
  };
  const server = createServer(async (req, res) => {
    const path = req.url ?? "";
    const body = await text(req);
    if (path === "/token") {
      const { authorization } = req.headers;
      requests.push({ authorization, form: new URLSearchParams(body) });
    }
    await hooks.beforeResponse(path);
    if (path === "/token") sendResponse(res, responses.token);
    else
      sendResponse(
        res,
        path === "/keys"
          ? responses.keys
          : (responses.metadata ?? createJsonResponse(200, metadata)),
      );
  });
  await new Promise<void>((resolve) => void server.listen(0, "127.0.0.1", resolve));
  const issuer = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const metadata = {
    issuer,
    authorization_endpoint: `${issuer}/authorize`,
    token_endpoint: `${issuer}/token`,
    jwks_uri: `${issuer}/keys`,
    response_types_supported: ["code"],
    subject_types_supported: ["public"],
    id_token_signing_alg_values_supported: ["RS256"],
  };
  const client: OidcClient = {
    issuer,
    clientId,
    clientSecret,
    scopes: "openid",
    allowedGroups: undefined,
  };

  return {
    responses,
    client,
    keys,
    metadata,
    requests,
    hooks,
    createKey,
    createJsonResponse,
    /** Returns the claims of a valid ID token for a nonce at an instant. */
    claims: (nonce: string, now: Date): Record<string, unknown> => {
      const seconds = Math.floor(now.getTime() / 1000);
      const times = { iat: seconds, exp: seconds + 300 };
      return { iss: issuer, sub: "subject", aud: clientId, nonce, ...times };
    },
    signToken: (
      claims: Record<string, unknown>,
      { key = keys.privateKey, alg = "RS256", kid = "k" }: SignOptions = {},
    ): Promise<string> => new SignJWT(claims).setProtectedHeader({ alg, kid }).sign(key),
    /** Sets the response of the token endpoint. */
    setTokenResponse: (idToken: string | undefined): void => {
      const tokens = { access_token: "a", token_type: "Bearer", id_token: idToken };
      responses.token = createJsonResponse(200, tokens);
    },
    close: () =>
      new Promise<void>((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
};
export type TamperingIssuer = Awaited<ReturnType<typeof startTamperingIssuer>>;

type SignOptions = { key?: CryptoKey | Uint8Array; alg?: string; kid?: string };

/** Sends the response. Without one, the request stays pending. */
const sendResponse = (res: ServerResponse, response: IssuerResponse | undefined): void => {
  if (response === undefined) return;
  res.writeHead(response.status, { "content-type": "application/json", ...response.headers });
  res.end(response.body);
};
