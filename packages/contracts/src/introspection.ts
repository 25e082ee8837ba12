import * as z from "zod";
import { Account } from "./account.ts";
import { Id } from "./ids.ts";
import { Instant } from "./instant.ts";

/**
 * The services that a signed-in person calls. Each receives a session token of its own, which only this
 * service's question can look up (rule CALLER-40).
 */
export const sessionServices = ["auth-keys", "links-api", "webhook-dispatcher"] as const;
export type SessionService = (typeof sessionServices)[number];

/** Longer than any address. */
const addressCharsMax = 64;

/**
 * What services ask auth-keys: who is behind this credential, told by its SHA-256 in hex. `address`
 * is from where a key is used. `service` is the service that received a session's token; auth-keys if not
 * given.
 */
export const IntrospectionRequest = z.object({
  kind: z.enum(["api-key", "session"]),
  hash: z.string().regex(/^[0-9a-f]{64}$/),
  address: z.string().max(addressCharsMax).optional(),
  service: z.enum(sessionServices).optional(),
});
export type IntrospectionRequest = z.output<typeof IntrospectionRequest>;

/**
 * What auth-keys answers. `found: false` means unknown, revoked or deactivated. An expired
 * credential is still found: each service judges `expiresAt` by its own clock, at every use.
 * `bucketId` names the rate bucket: keys rotated from one another share one.
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
      /** From where a key may be used; from anywhere if not given. */
      cidrs: z.array(z.string()).optional(),
      /** How fast a key may be used, where that is less than the installation grants. */
      requestsPerMinute: z.int().positive().optional(),
      burst: z.int().positive().optional(),
      /** Of a session: how it was begun. */
      method: z.string().optional(),
      /** Of a session: when its person last proved to be there, and how they can do so again. */
      presence: z.object({ provenAt: Instant, methods: z.array(z.string()) }).optional(),
    }),
  }),
]);
export type IntrospectionResponse = z.output<typeof IntrospectionResponse>;
