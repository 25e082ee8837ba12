import * as z from "zod";
import { readSecret } from "@payment-links/runtime";

const loopbackHosts = new Set(["localhost", "127.0.0.1", "[::1]"]);

const IssuerUrl = z
  .url({ protocol: /^https?$/, error: "must be an http or https URL", abort: true })
  .refine((text) => !/[?#@]/.test(text), { error: "must have no credentials, query or fragment" })
  .refine((text) => text.startsWith("https:") || loopbackHosts.has(new URL(text).hostname), {
    error: "must be https, as it says who signs in; http is for a loopback host alone",
  });

const ClientText = z.string().regex(/^[\x20-\x7e]{1,255}$/, {
  error: "must be at most 255 ASCII characters",
});

/**
 * What makes us a client of an identity provider. Without a secret it is a public client, with PKCE
 * only.
 */
export type OidcClient = {
  issuer: string;
  clientId: string;
  clientSecret: string | undefined;
  scopes: string;
};

/**
 * The service's own variables. Sign-in with OpenID Connect exists if issuer and client id are
 * given; one without the other is a fault. The secret may stand in the file that its `…_FILE` twin
 * names.
 */
export const authKeysConfig = z
  .object({
    /** Which prefix new API keys carry: `plk_live_` or `plk_test_`. */
    API_KEY_MODE: z.enum(["live", "test"]).default("live"),
    OIDC_ISSUER: IssuerUrl.optional(),
    OIDC_CLIENT_ID: ClientText.optional(),
    OIDC_CLIENT_SECRET: z.string().optional(),
    OIDC_CLIENT_SECRET_FILE: z.string().optional(),
    OIDC_SCOPES: z
      .string()
      .regex(/^[\x21-\x7e]+( [\x21-\x7e]+)*$/, { error: "must be words with one blank between" })
      .refine((scopes) => scopes.split(" ").includes("openid"), { error: "must contain openid" })
      .optional(),
  })
  .transform((environment, context) => {
    const { OIDC_ISSUER: issuer, OIDC_CLIENT_ID: clientId } = environment;
    const clientSecret = readSecret(environment, "OIDC_CLIENT_SECRET");
    const apiKeyMode = environment.API_KEY_MODE;
    const scopes = environment.OIDC_SCOPES;
    if (issuer !== undefined && clientId !== undefined) {
      const oidc = { issuer, clientId, clientSecret, scopes: scopes ?? "openid profile" };
      return { apiKeyMode, oidc };
    }
    const isOff = [issuer, clientId, clientSecret, scopes].every((value) => value === undefined);
    if (isOff) return { apiKeyMode, oidc: undefined };
    const path = [issuer === undefined ? "OIDC_ISSUER" : "OIDC_CLIENT_ID"];
    context.addIssue({ code: "custom", path, message: "is missing, while other OIDC_… are given" });
    return z.NEVER;
  });
export type AuthKeysConfig = z.output<typeof authKeysConfig>;
