import * as z from "zod";
import { Account } from "./account.ts";
import { Id } from "./ids.ts";
import { Instant } from "./instant.ts";
import { Mode } from "./mode.ts";

/**
 * The services that a signed-in user calls. Each receives its own session token. Only that
 * service's introspection request can look the token up (rule CALLER-40).
 */
export const sessionServices = ["auth-keys", "links-api", "webhook-dispatcher"] as const;
export type SessionService = (typeof sessionServices)[number];

/** Longer than any address. */
const addressCharsMax = 64;

/**
 * The request to auth-keys that identifies the owner of a credential by the credential's SHA-256 in
 * hex. `address` is the source address of an API key's caller. `service` is the service that
 * received a session token, and defaults to auth-keys.
 */
export const IntrospectionRequest = z.object({
  kind: z.enum(["api-key", "session"]),
  hash: z.string().regex(/^[0-9a-f]{64}$/),
  address: z.string().max(addressCharsMax).optional(),
  service: z.enum(sessionServices).optional(),
});
export type IntrospectionRequest = z.output<typeof IntrospectionRequest>;

/**
 * The response of auth-keys. `found: false` means that the credential is unknown, revoked or
 * deactivated. An expired credential is still found, because each service compares `expiresAt` with
 * its own clock at every use. `bucketId` identifies the rate limit bucket. A rotated key shares its
 * predecessor's bucket.
 */
export const IntrospectionResponse = z.discriminatedUnion("found", [
  z.object({ found: z.literal(false) }),
  z.object({
    found: z.literal(true),
    account: Account,
    credential: z.object({
      id: Id,
      bucketId: Id,
      scopes: z.array(z.string()),
      expiresAt: Instant.nullable(),
      /** The mode of a key. Missing means live, and for a session, that the caller chooses. */
      mode: Mode.optional(),
      /** The source addresses from which a key can be used. Missing means any address. */
      cidrs: z.array(z.string()).optional(),
      /** The key's own rate limit, if it is lower than the installation's. */
      requestsPerMinute: z.int().positive().optional(),
      burst: z.int().positive().optional(),
      /** For a session: the sign-in method. */
      method: z.string().optional(),
      /** For a session: when its user last proved presence, and the methods for a new proof. */
      presence: z.object({ provenAt: Instant, methods: z.array(z.string()) }).optional(),
    }),
  }),
]);
export type IntrospectionResponse = z.output<typeof IntrospectionResponse>;
