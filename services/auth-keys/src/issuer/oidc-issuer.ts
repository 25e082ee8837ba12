import * as oidc from "openid-client";
import { refuse } from "@payment-links/contracts";
import type { Clock, Log } from "@payment-links/runtime";
import type { OidcClient } from "../config.ts";
import { type OidcProof, Outsider, oidcIdentity, subjectCharsMax } from "../domain/identity.ts";
import type { OidcFlow } from "../domain/sign-in-attempt.ts";
import { createDiscovery } from "./discovery.ts";
import { IssuerAway, issuerFetch } from "./issuer-fetch.ts";

/**
 * The identity provider of this installation. Both calls throw the refusal OIDC_ISSUER_UNAVAILABLE
 * while it does not answer.
 */
export type OidcIssuer = {
  /** By which name identities of this provider are known. */
  issuer: string;
  /**
   * Where a browser is sent, to come back with an answer. Where presence is to be proven, the provider
   * is asked not to rely on a sign-in of its own from before.
   */
  signInUrl(flow: OidcFlow, asked?: { isAnew: boolean }): Promise<string>;
  /**
   * Who signed in, by the answer that the browser brought back. It redeems the code with the PKCE
   * verifier, and checks the ID token's signature, issuer, audience, nonce and times against the
   * request (OpenID Connect Core §3.1.3). Throws the refusal OIDC_SIGN_IN_REFUSED, and Outsider.
   */
  redeem(answer: URLSearchParams, flow: OidcFlow): Promise<OidcProof>;
};

type IssuerOptions = { client: OidcClient; redirectUri: string; clock: Clock; log: Log };

/** For one question. A sign-in asks at most three: for metadata, the ID token, the keys. Its route waits for all. */
export const questionSeconds = 5;

/** How far an identity provider's clock may differ from ours. */
const toleranceSeconds = 30;

/** Makes the port to the identity provider; it is first asked when somebody signs in. */
export const createOidcIssuer = ({
  client,
  redirectUri,
  clock,
  log,
}: IssuerOptions): OidcIssuer => {
  const issuer = new URL(client.issuer);
  const execute = issuer.protocol === "http:" ? [oidc.allowInsecureRequests] : [];
  const options = { execute, timeout: questionSeconds, [oidc.customFetch]: issuerFetch };
  const discovery = createDiscovery({
    clock,
    log,
    discover: async () => {
      const found = await oidc.discovery(issuer, client.clientId, {}, oidc.None(), options);
      return withEndpoints(found.serverMetadata(), issuer.protocol);
    },
  });

  // Made anew for each sign-in, so that the keys are fetched anew too: a revoked key is dead here
  // at once, and a new one is known at once. Sign-ins are few.
  const configure = async (): Promise<oidc.Configuration> => {
    const server = await discovery.get();
    const metadata = {
      [oidc.clockSkew]: Math.round((clock.now().getTime() - Date.now()) / 1000),
      [oidc.clockTolerance]: toleranceSeconds,
    };
    const configuration = new oidc.Configuration(
      server,
      client.clientId,
      metadata,
      authentication(client, server),
    );
    configuration.timeout = questionSeconds;
    configuration[oidc.customFetch] = issuerFetch;
    if (execute.length > 0) oidc.allowInsecureRequests(configuration);
    // The library would rely on TLS alone and not check the ID token's signature.
    oidc.enableNonRepudiationChecks(configuration);
    return configuration;
  };

  return {
    issuer: issuer.href,
    signInUrl: async ({ state, nonce, codeVerifier }, { isAnew } = { isAnew: false }) => {
      const parameters = {
        redirect_uri: redirectUri,
        scope: client.scopes,
        state,
        nonce,
        code_challenge: await oidc.calculatePKCECodeChallenge(codeVerifier),
        code_challenge_method: "S256",
        // A provider must send `auth_time` only if it is asked for an age (Core §2).
        ...(isAnew ? { prompt: "login", max_age: "0" } : { max_age: `${anyAgeSeconds}` }),
      };
      return oidc.buildAuthorizationUrl(await configure(), parameters).href;
    },
    redeem: async (answer, { state, nonce, codeVerifier }) => {
      const configuration = await configure();
      const url = new URL(redirectUri);
      url.search = answer.toString();
      try {
        const tokens = await oidc.authorizationCodeGrant(configuration, url, {
          expectedState: state,
          expectedNonce: nonce,
          pkceCodeVerifier: codeVerifier,
          idTokenExpected: true,
        });
        return proofOf(tokens.claims(), client.allowedGroups);
      } catch (error) {
        throw refuseBy(error, log);
      }
    },
  };
};

/** Checks what a provider says of itself against the needs of a sign-in (Discovery §3). */
const withEndpoints = (server: oidc.ServerMetadata, protocol: string): oidc.ServerMetadata => {
  for (const name of ["authorization_endpoint", "token_endpoint", "jwks_uri"] as const) {
    const isSafe = server[name]?.startsWith("https:") || protocol === "http:";
    if (server[name] === undefined || !isSafe) throw new Error(`there is no usable ${name}`);
  }
  return server;
};

/** HTTP Basic, unless the provider says that it takes the secret only in the body (Core §9). */
const authentication = (
  { clientSecret }: OidcClient,
  { token_endpoint_auth_methods_supported: methods }: oidc.ServerMetadata,
): oidc.ClientAuth => {
  if (clientSecret === undefined) return oidc.None();
  const takesBasic = methods === undefined || methods.includes("client_secret_basic");
  return takesBasic ? oidc.ClientSecretBasic(clientSecret) : oidc.ClientSecretPost(clientSecret);
};

const proofOf = (
  claims: oidc.IDToken | undefined,
  allowedGroups: readonly string[] | undefined,
): OidcProof => {
  if (claims === undefined) throw new Error("there is no ID token");
  const { iss, sub, name } = claims;
  const isSubject = sub.length <= subjectCharsMax && /^[\x20-\x7e]+$/.test(sub);
  if (!isSubject) throw new Error("the subject is not one of OpenID Connect Core §2");
  const proven = oidcIdentity(iss, sub, name);
  const isMember = allowedGroups?.some((group) => groupsOf(claims).includes(group)) ?? true;
  if (!isMember) throw new Outsider(proven);
  return { proven, ageMs: ageOf(claims) };
};

/** A year: a sign-in of any usual age will do. */
const anyAgeSeconds = 365 * 24 * 60 * 60;

/** Both times are the provider's own, so its clock may differ from ours. */
const ageOf = ({ auth_time: provenAt, iat }: oidc.IDToken): number | undefined =>
  provenAt === undefined ? undefined : Math.max(0, iat - provenAt) * 1000;

/** Some providers write a single group without a list around it. */
const groupsOf = ({ groups }: oidc.IDToken): readonly unknown[] =>
  Array.isArray(groups) ? groups : [groups];

const refuseBy = (error: unknown, log: Log) => {
  const isAway = isCausedByAbsence(error);
  // The library's errors carry codes and tokens as their causes, so only their code may be told.
  const code = error instanceof Error && "code" in error ? String(error.code) : undefined;
  const rule = code ?? (error instanceof Error ? error.message : undefined);
  if (!isAway) log.info({ method: "oidc", rule }, "a sign-in was refused");
  if (error instanceof Outsider) return error;
  return refuse(isAway ? "OIDC_ISSUER_UNAVAILABLE" : "OIDC_SIGN_IN_REFUSED");
};

const isCausedByAbsence = (error: unknown): boolean =>
  error instanceof IssuerAway || (error instanceof Error && error.cause instanceof IssuerAway);
