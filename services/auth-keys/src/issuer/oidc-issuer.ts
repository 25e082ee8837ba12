import * as oidc from "openid-client";
import { createApiError } from "@payment-links/contracts";
import type { Clock, Log } from "@payment-links/runtime";
import type { OidcClient } from "../config.ts";
import {
  type OidcProof,
  GroupNotAllowedError,
  toOidcIdentity,
  subjectCharsMax,
} from "../domain/identity.ts";
import type { OidcFlow } from "../domain/sign-in-attempt.ts";
import { createDiscovery } from "./discovery.ts";
import { UpstreamUnavailableError, issuerFetch } from "./issuer-fetch.ts";

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
  signInUrl(flow: OidcFlow, options?: { isLoginForced: boolean }): Promise<string>;
  /**
   * Who signed in, by the answer that the browser brought back. It redeems the code with the PKCE
   * verifier, and checks the ID token's signature, issuer, audience, nonce and times against the
   * request (OpenID Connect Core §3.1.3). Throws the refusal OIDC_SIGN_IN_REFUSED, and Outsider.
   */
  redeemCode(authorizationResponse: URLSearchParams, flow: OidcFlow): Promise<OidcProof>;
};

type IssuerOptions = { client: OidcClient; redirectUri: string; clock: Clock; log: Log };

/** For one question. A sign-in asks at most three: for metadata, the ID token, the keys. Its route waits for all. */
export const requestTimeoutSeconds = 5;

/** How far an identity provider's clock may differ from ours. */
const clockToleranceSeconds = 30;

/** Makes the port to the identity provider; it is first asked when somebody signs in. */
export const createOidcIssuer = ({
  client,
  redirectUri,
  clock,
  log,
}: IssuerOptions): OidcIssuer => {
  const issuer = new URL(client.issuer);
  const isHttpAllowed = issuer.protocol === "http:";
  const execute = isHttpAllowed ? [oidc.allowInsecureRequests] : [];
  const options = { execute, timeout: requestTimeoutSeconds, [oidc.customFetch]: issuerFetch };
  const discovery = createDiscovery({
    clock,
    log,
    discover: async () => {
      const discovered = await oidc.discovery(issuer, client.clientId, {}, oidc.None(), options);
      return requireEndpoints(discovered.serverMetadata(), issuer.protocol);
    },
  });

  // Made anew for each sign-in, so that the keys are fetched anew too: a revoked key is dead here
  // at once, and a new one is known at once. Sign-ins are few.
  const createConfiguration = async (): Promise<oidc.Configuration> =>
    buildConfiguration(await discovery.get(), { client, clock, isHttpAllowed });

  return {
    issuer: issuer.href,
    signInUrl: async (
      { state, nonce, codeVerifier },
      { isLoginForced } = { isLoginForced: false },
    ) => {
      const parameters = {
        redirect_uri: redirectUri,
        scope: client.scopes,
        state,
        nonce,
        code_challenge: await oidc.calculatePKCECodeChallenge(codeVerifier),
        code_challenge_method: "S256",
        // A provider must send `auth_time` only if it is asked for an age (Core §2).
        ...(isLoginForced
          ? { prompt: "login", max_age: "0" }
          : { max_age: `${authenticationAgeSecondsMax}` }),
      };
      return oidc.buildAuthorizationUrl(await createConfiguration(), parameters).href;
    },
    redeemCode: async (authorizationResponse, { state, nonce, codeVerifier }) => {
      const configuration = await createConfiguration();
      const url = new URL(redirectUri);
      url.search = authorizationResponse.toString();
      try {
        const tokens = await oidc.authorizationCodeGrant(configuration, url, {
          expectedState: state,
          expectedNonce: nonce,
          pkceCodeVerifier: codeVerifier,
          idTokenExpected: true,
        });
        return buildProof(tokens.claims(), client.allowedGroups);
      } catch (error) {
        throw toSignInError(error, log);
      }
    },
  };
};

type ConfigurationOptions = Pick<IssuerOptions, "client" | "clock"> & { isHttpAllowed: boolean };

const buildConfiguration = (
  server: oidc.ServerMetadata,
  { client, clock, isHttpAllowed }: ConfigurationOptions,
): oidc.Configuration => {
  const metadata = {
    [oidc.clockSkew]: Math.round((clock.now().getTime() - Date.now()) / 1000),
    [oidc.clockTolerance]: clockToleranceSeconds,
  };
  const configuration = new oidc.Configuration(
    server,
    client.clientId,
    metadata,
    chooseClientAuthentication(client, server),
  );
  configuration.timeout = requestTimeoutSeconds;
  configuration[oidc.customFetch] = issuerFetch;
  if (isHttpAllowed) oidc.allowInsecureRequests(configuration);
  // The library would rely on TLS alone and not check the ID token's signature.
  oidc.enableNonRepudiationChecks(configuration);
  return configuration;
};

/** Checks what a provider says of itself against the needs of a sign-in (Discovery §3). */
const requireEndpoints = (server: oidc.ServerMetadata, protocol: string): oidc.ServerMetadata => {
  for (const name of ["authorization_endpoint", "token_endpoint", "jwks_uri"] as const) {
    const isSafe = server[name]?.startsWith("https:") || protocol === "http:";
    if (server[name] === undefined || !isSafe) throw new Error(`there is no usable ${name}`);
  }
  return server;
};

/** HTTP Basic, unless the provider says that it takes the secret only in the body (Core §9). */
const chooseClientAuthentication = (
  { clientSecret }: OidcClient,
  { token_endpoint_auth_methods_supported: methods }: oidc.ServerMetadata,
): oidc.ClientAuth => {
  if (clientSecret === undefined) return oidc.None();
  const supportsBasic = methods === undefined || methods.includes("client_secret_basic");
  return supportsBasic ? oidc.ClientSecretBasic(clientSecret) : oidc.ClientSecretPost(clientSecret);
};

const buildProof = (
  claims: oidc.IDToken | undefined,
  allowedGroups: readonly string[] | undefined,
): OidcProof => {
  if (claims === undefined) throw new Error("there is no ID token");
  const { iss, sub, name } = claims;
  const isValidSubject = sub.length <= subjectCharsMax && /^[\x20-\x7e]+$/.test(sub);
  if (!isValidSubject) throw new Error("the subject is not one of OpenID Connect Core §2");
  const provenIdentity = toOidcIdentity(iss, sub, name);
  const isMember = allowedGroups?.some((group) => getGroups(claims).includes(group)) ?? true;
  if (!isMember) throw new GroupNotAllowedError(provenIdentity);
  return { provenIdentity, authenticationAgeMs: getAuthenticationAge(claims) };
};

/** A year: a sign-in of any usual age will do. */
const authenticationAgeSecondsMax = 365 * 24 * 60 * 60;

/** Both times are the provider's own, so its clock may differ from ours. */
const getAuthenticationAge = ({ auth_time: provenAt, iat }: oidc.IDToken): number | undefined =>
  provenAt === undefined ? undefined : Math.max(0, iat - provenAt) * 1000;

/** Some providers write a single group without a list around it. */
const getGroups = ({ groups }: oidc.IDToken): readonly unknown[] =>
  Array.isArray(groups) ? groups : [groups];

const toSignInError = (error: unknown, log: Log) => {
  const isUnavailable = isUpstreamUnavailable(error);
  // The library's errors carry codes and tokens as their causes, so only their code may be told.
  const code = error instanceof Error && "code" in error ? String(error.code) : undefined;
  const rule = code ?? (error instanceof Error ? error.message : undefined);
  if (!isUnavailable) log.info({ method: "oidc", rule }, "a sign-in was refused");
  if (error instanceof GroupNotAllowedError) return error;
  return createApiError(isUnavailable ? "OIDC_ISSUER_UNAVAILABLE" : "OIDC_SIGN_IN_REFUSED");
};

const isUpstreamUnavailable = (error: unknown): boolean =>
  error instanceof UpstreamUnavailableError ||
  (error instanceof Error && error.cause instanceof UpstreamUnavailableError);
