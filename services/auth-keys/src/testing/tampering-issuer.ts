import { type ServerResponse, createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { text } from "node:stream/consumers";
import { type CryptoKey, SignJWT, exportJWK, generateKeyPair } from "jose";
import type { OidcClient } from "../config.ts";

type Answer = { status: number; body: string; headers?: Record<string, string> };
type TokenRequest = { authorization: string | undefined; form: URLSearchParams };

const clientId = "payment-links";
const clientSecret = "a client: secret/of the test";

const json = (status: number, body: unknown): Answer => ({ status, body: JSON.stringify(body) });

/** A signing key, under the name that the issuer published for its own. */
const makeKey = async () => generateKeyPair("RS256", { extractable: true });

/**
 * An issuer on loopback that answers whatever a test wants, unlike a certified one. The test makes
 * the ID token, the keys and the answers itself. Nobody signs in there; its codes are made up.
 */
export const openTamperingIssuer = async () => {
  const keys = await makeKey();
  const requests: TokenRequest[] = [];
  const answers: { token: Answer | undefined; keys: Answer; metadata: Answer | undefined } = {
    token: undefined,
    keys: json(200, { keys: [{ ...(await exportJWK(keys.publicKey)), kid: "k", use: "sig" }] }),
    metadata: undefined,
  };
  const waits: { beforeAnswer: (path: string) => Promise<void> } = {
    beforeAnswer: () => Promise.resolve(),
  };
  const server = createServer(async (req, res) => {
    const path = req.url ?? "";
    const body = await text(req);
    if (path === "/token") {
      const { authorization } = req.headers;
      requests.push({ authorization, form: new URLSearchParams(body) });
    }
    await waits.beforeAnswer(path);
    if (path === "/token") send(res, answers.token);
    else send(res, path === "/keys" ? answers.keys : (answers.metadata ?? json(200, metadata)));
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
    answers,
    client,
    keys,
    metadata,
    requests,
    waits,
    makeKey,
    json,
    /** What a right ID token says, for a nonce at an instant. */
    claims: (nonce: string, now: Date): Record<string, unknown> => {
      const seconds = Math.floor(now.getTime() / 1000);
      const times = { iat: seconds, exp: seconds + 300 };
      return { iss: issuer, sub: "subject", aud: clientId, nonce, ...times };
    },
    sign: (
      claims: Record<string, unknown>,
      { key = keys.privateKey, alg = "RS256", kid = "k" }: SignOptions = {},
    ): Promise<string> => new SignJWT(claims).setProtectedHeader({ alg, kid }).sign(key),
    /** What the token endpoint answers from now on. */
    giveToken: (idToken: string | undefined): void => {
      const tokens = { access_token: "a", token_type: "Bearer", id_token: idToken };
      answers.token = json(200, tokens);
    },
    close: () =>
      new Promise<void>((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
};
export type TamperingIssuer = Awaited<ReturnType<typeof openTamperingIssuer>>;

type SignOptions = { key?: CryptoKey | Uint8Array; alg?: string; kid?: string };

/** Without an answer the request stays waiting. */
const send = (res: ServerResponse, answer: Answer | undefined): void => {
  if (answer === undefined) return;
  res.writeHead(answer.status, { "content-type": "application/json", ...answer.headers });
  res.end(answer.body);
};
