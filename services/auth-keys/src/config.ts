import * as z from "zod";
import {
  SignUp,
  SmtpFrom,
  type EmailSender,
  getDefaultSignUp,
  parseHosts,
  parseRpcUrls,
  signInMethods,
} from "@payment-links/contracts";
import { readSecret } from "@payment-links/runtime";
import { type EmailConfig, parseSmtpUrl } from "./domain/email-config.ts";
import { type ScannerPublicKeys, parseScannerKeys } from "./domain/leaked-keys.ts";
import type { SignInMethod } from "./domain/session.ts";

const loopbackHosts = new Set(["localhost", "127.0.0.1", "[::1]"]);

/**
 * The shortest retention that can be configured, in days. The table itself also rejects the
 * deletion of younger entries (`migrations/0012-audit-log.sql`).
 */
const auditLogDaysMin = 30;
const auditLogDaysMax = 36_500;

const walletDelaySecondsMax = 30 * 24 * 60 * 60;

const IssuerUrlSchema = z
  .url({ protocol: /^https?$/, error: "must be an http or https URL", abort: true })
  .refine((text) => !/[?#@]/.test(text), {
    error: "must not contain credentials, a query or a fragment",
  })
  .refine((text) => text.startsWith("https:") || loopbackHosts.has(new URL(text).hostname), {
    error: "must be an https URL; http is allowed only for a loopback host",
  });

const ClientCredentialText = z.string().regex(/^[\x20-\x7e]{1,255}$/, {
  error: "must be at most 255 ASCII characters",
});

/**
 * The settings of this service as a client of the identity provider. Without a secret, it is a
 * public client that relies on PKCE alone.
 */
export type OidcClient = {
  issuer: string;
  clientId: string;
  clientSecret: string | undefined;
  scopes: string;
  /** The ID token's `groups` must contain one of these. If undefined, everyone can sign in. */
  allowedGroups: readonly string[] | undefined;
};

const splitList = (text: string): string[] => text.split(",").map((item) => item.trim());

/** Parses comma-separated values. Rejects empty values and duplicates. */
const UniqueList = z
  .string()
  .transform(splitList)
  .refine((list) => list.every((item) => item !== "") && new Set(list).size === list.length, {
    error: "must be a comma-separated list without empty or duplicate entries",
  });

const isSignInMethod = (item: string): item is SignInMethod =>
  signInMethods.some((method) => method === item);

const SignInMethodList = UniqueList.refine((list) => list.every(isSignInMethod), {
  error: `must contain only ${signInMethods.join(", ")}`,
}).transform((list) => list.filter(isSignInMethod));

const ScannerKeyList = z.string().transform((text, context) => {
  const keys = parseScannerKeys(text);
  if (keys !== undefined) return keys;
  const message = "must be a comma-separated list of <identifier>=<base64 of a P-256 public key>";
  context.addIssue({ code: "custom", message });
  return z.NEVER;
});

/**
 * The service's own environment variables. OpenID Connect sign-in is enabled if both the issuer and
 * the client id are set. Setting only one of them is an error. The secret can also come from the
 * file that `OIDC_CLIENT_SECRET_FILE` names. Listing a sign-in method that is not configured is an
 * error too, so that operators do not assume that it works.
 */
export const authKeysConfig = z
  .object({
    OIDC_ISSUER: IssuerUrlSchema.optional(),
    OIDC_CLIENT_ID: ClientCredentialText.optional(),
    OIDC_CLIENT_SECRET: z.string().optional(),
    OIDC_CLIENT_SECRET_FILE: z.string().optional(),
    OIDC_SCOPES: z
      .string()
      .regex(/^[\x21-\x7e]+( [\x21-\x7e]+)*$/, { error: "must be separated by single spaces" })
      .refine((scopes) => scopes.split(" ").includes("openid"), { error: "must contain openid" })
      .optional(),
    OIDC_ALLOWED_GROUPS: UniqueList.optional(),
    SIGN_UP: SignUp.optional(),
    SIGN_IN_METHODS: SignInMethodList.optional(),
    LEAKED_KEYS_PUBLIC_KEYS: ScannerKeyList.optional(),
    SIGN_IN_RPC_URLS: z.string().optional(),
    SIGN_IN_RPC_URLS_FILE: z.string().optional(),
    INDEPENDENT_RPC_HOSTS: z.string().default(""),
    /** Seconds until a new default wallet takes effect. */
    WALLET_CHANGE_DELAY: z.coerce.number().int().min(0).max(walletDelaySecondsMax).default(0),
    /** How long audit log entries are kept, in days. 0 keeps them forever. */
    AUDIT_LOG_DAYS: z.coerce
      .number()
      .int()
      .min(0)
      .max(auditLogDaysMax)
      .refine((days) => days === 0 || days >= auditLogDaysMin, {
        error: `must be 0 (no limit) or at least ${auditLogDaysMin}`,
      })
      .default(0),
    SMTP_URL: z.string().optional(),
    SMTP_URL_FILE: z.string().optional(),
    SMTP_FROM: SmtpFrom.optional(),
    NODE_ENV: z.string().default("development"),
  })
  .transform((environment, context) => {
    const oidc = parseOidc(environment, context);
    const { SIGN_IN_METHODS: configuredMethods } = environment;
    const signUp = environment.SIGN_UP ?? getDefaultSignUp(environment.NODE_ENV);
    const enabledMethods = configuredMethods ?? signInMethods;
    const hasOidc = oidc !== undefined && enabledMethods.includes("oidc");
    const reportMissingMethod = (variable: string) => {
      const message = "requires a sign-in method that is not configured";
      context.addIssue({ code: "custom", path: [variable], message });
    };
    if (configuredMethods?.includes("oidc") === true && oidc === undefined)
      reportMissingMethod("SIGN_IN_METHODS");
    if (signUp === "oidc" && !hasOidc) reportMissingMethod("SIGN_UP");
    const leakedKeysPublicKeys: ScannerPublicKeys =
      environment.LEAKED_KEYS_PUBLIC_KEYS ?? new Map();
    const { SIGN_IN_RPC_URLS, SIGN_IN_RPC_URLS_FILE } = environment;
    const urls = readSecret({ SIGN_IN_RPC_URLS, SIGN_IN_RPC_URLS_FILE }, "SIGN_IN_RPC_URLS");
    const reportIssue = (variable: string, message: string) => {
      context.addIssue({ code: "custom", path: [variable], message });
      return z.NEVER;
    };
    const hosts = parseHosts(environment.INDEPENDENT_RPC_HOSTS);
    if ("fault" in hosts) return reportIssue("INDEPENDENT_RPC_HOSTS", hosts.fault);
    const rpcUrls = parseRpcUrls(urls ?? "", hosts);
    if ("fault" in rpcUrls) return reportIssue("SIGN_IN_RPC_URLS", rpcUrls.fault);
    const email = parseEmail(environment, reportIssue);
    const walletDelayMs = environment.WALLET_CHANGE_DELAY * 1000;
    return {
      oidc,
      signUp,
      signInMethods: enabledMethods,
      leakedKeysPublicKeys,
      walletDelayMs,
      auditLogDays: environment.AUDIT_LOG_DAYS,
      rpcUrls,
      email,
    };
  });
export type AuthKeysConfig = z.output<typeof authKeysConfig>;

type OidcEnvironment = {
  OIDC_ISSUER?: string | undefined;
  OIDC_CLIENT_ID?: string | undefined;
  OIDC_CLIENT_SECRET?: string | undefined;
  OIDC_CLIENT_SECRET_FILE?: string | undefined;
  OIDC_SCOPES?: string | undefined;
  OIDC_ALLOWED_GROUPS?: string[] | undefined;
};

const parseOidc = (
  environment: OidcEnvironment,
  context: z.RefinementCtx,
): OidcClient | undefined => {
  const { OIDC_ISSUER: issuer, OIDC_CLIENT_ID: clientId, OIDC_SCOPES: scopes } = environment;
  const allowedGroups = environment.OIDC_ALLOWED_GROUPS;
  const { OIDC_CLIENT_SECRET, OIDC_CLIENT_SECRET_FILE } = environment;
  const secrets = { OIDC_CLIENT_SECRET, OIDC_CLIENT_SECRET_FILE };
  const clientSecret = readSecret(secrets, "OIDC_CLIENT_SECRET");
  if (issuer !== undefined && clientId !== undefined) {
    return { issuer, clientId, clientSecret, scopes: scopes ?? "openid profile", allowedGroups };
  }
  const oidcSettings = [issuer, clientId, clientSecret, scopes, allowedGroups];
  if (oidcSettings.every((value) => value === undefined)) return undefined;
  const path = [issuer === undefined ? "OIDC_ISSUER" : "OIDC_CLIENT_ID"];
  context.addIssue({ code: "custom", path, message: "is missing, but other OIDC_… are set" });
  return undefined;
};

type EmailEnvironment = {
  SMTP_URL?: string | undefined;
  SMTP_URL_FILE?: string | undefined;
  SMTP_FROM?: EmailSender | undefined;
};

/** Emails are sent if both the server and the sender are set. */
const parseEmail = (
  { SMTP_URL, SMTP_URL_FILE, SMTP_FROM: from }: EmailEnvironment,
  reportIssue: (variable: string, message: string) => never,
): EmailConfig | undefined => {
  const url = readSecret({ SMTP_URL, SMTP_URL_FILE }, "SMTP_URL");
  if (url === undefined && from === undefined) return undefined;
  if (url === undefined) return reportIssue("SMTP_URL", "is missing, but SMTP_FROM is set");
  if (from === undefined) return reportIssue("SMTP_FROM", "is missing, but SMTP_URL is set");
  const server = parseSmtpUrl(url);
  if (server !== undefined) return { server, from };
  return reportIssue("SMTP_URL", "must be smtp://[user:password@]host[:port] or smtps://…");
};
