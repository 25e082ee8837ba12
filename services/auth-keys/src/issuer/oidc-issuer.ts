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
 * The identity provider of this installation. Both functions throw the `ApiError`
 * OIDC_ISSUER_UNAVAILABLE while the provider does not respond.
 */
export type OidcIssuer = {
  /** The issuer of this provider's identities. */
  issuer: string;
  /**
   * Returns the URL to which a browser is redirected for a sign-in. With `isLoginForced`, for a
   * proof of presence, the provider must not reuse an earlier sign-in.
   */
  signInUrl(flow: OidcFlow, options?: { isLoginForced: boolean }): Promise<string>;
  /**
   * Returns who signed in, from the response that the browser brought back. Redeems the code with
   * the PKCE verifier. Checks the ID token's signature, issuer, audience, nonce and times against
   * the request (OpenID Connect Core §3.1.3). Throws the `ApiError` OIDC_SIGN_IN_REFUSED, or
   * `GroupNotAllowedError`.
   */
  redeemCode(authorizationResponse: URLSearchParams, flow: OidcFlow): Promise<OidcProof>;
};

type IssuerOptions = { client: OidcClient; redirectUri: string; clock: Clock; log: Log };

/**
 * The timeout of one request. A sign-in sends up to three requests in sequence: for the metadata,
 * the ID token and the keys. Its route waits for all of them.
 */
export const requestTimeoutSeconds = 5;

/** How far the identity provider's clock may differ from ours. */
const clockToleranceSeconds = 30;

/**
 * Creates the client of the identity provider. It does not send a request before the first sign-in.
 */
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

  // Creates a configuration for each sign-in, so that the library fetches the provider's keys each
  // time. A revoked key then stops working immediately, and a new key works immediately. Sign-ins
  // are so rare that the additional request does not matter.
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
        // A provider is required to send `auth_time` only if the request contains `max_age` (Core
        // §2).
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
  // By default, the library relies on TLS alone and does not verify the ID token's signature.
  oidc.enableNonRepudiationChecks(configuration);
  return configuration;
};

/** Checks that the provider's metadata has the endpoints for a sign-in (Discovery §3). */
const requireEndpoints = (server: oidc.ServerMetadata, protocol: string): oidc.ServerMetadata => {
  for (const name of ["authorization_endpoint", "token_endpoint", "jwks_uri"] as const) {
    const isSafe = server[name]?.startsWith("https:") || protocol === "http:";
    if (server[name] === undefined || !isSafe)
      throw new Error(`the metadata has no usable ${name}`);
  }
  return server;
};

/** Returns HTTP Basic, unless the provider accepts the secret only in the body (Core §9). */
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
  if (claims === undefined) throw new Error("the response has no ID token");
  const { iss, sub, name } = claims;
  const isValidSubject = sub.length <= subjectCharsMax && /^[\x20-\x7e]+$/.test(sub);
  if (!isValidSubject) throw new Error("the subject violates OpenID Connect Core §2");
  const provenIdentity = toOidcIdentity(iss, sub, name);
  const isMember = allowedGroups?.some((group) => getGroups(claims).includes(group)) ?? true;
  if (!isMember) throw new GroupNotAllowedError(provenIdentity);
  return { provenIdentity, authenticationAgeMs: getAuthenticationAge(claims) };
};

/** One year, so that the provider can reuse a sign-in of any usual age. */
const authenticationAgeSecondsMax = 365 * 24 * 60 * 60;

/** Both times are from the provider's clock, so a difference to our clock does not matter. */
const getAuthenticationAge = ({ auth_time: provenAt, iat }: oidc.IDToken): number | undefined =>
  provenAt === undefined ? undefined : Math.max(0, iat - provenAt) * 1000;

/** Some providers send a single group as a string instead of a list. */
const getGroups = ({ groups }: oidc.IDToken): readonly unknown[] =>
  Array.isArray(groups) ? groups : [groups];

const toSignInError = (error: unknown, log: Log) => {
  const isUnavailable = isUpstreamUnavailable(error);
  // The library's errors contain authorization codes and tokens in their causes, so only their own
  // error code is logged.
  const code = error instanceof Error && "code" in error ? String(error.code) : undefined;
  const rule = code ?? (error instanceof Error ? error.message : undefined);
  if (!isUnavailable) log.info({ method: "oidc", rule }, "sign-in rejected");
  if (error instanceof GroupNotAllowedError) return error;
  return createApiError(isUnavailable ? "OIDC_ISSUER_UNAVAILABLE" : "OIDC_SIGN_IN_REFUSED");
};

const isUpstreamUnavailable = (error: unknown): boolean =>
  error instanceof UpstreamUnavailableError ||
  (error instanceof Error && error.cause instanceof UpstreamUnavailableError);
