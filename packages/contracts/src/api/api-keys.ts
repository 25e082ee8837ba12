import * as z from "zod";
import { scopes } from "../scope.ts";
import { isAddressOrCidr } from "../cidr.ts";
import { Mode, modes } from "../mode.ts";
import {
  body,
  bool,
  formattedText,
  optional,
  futureDateTime,
  integer,
  list,
  nullable,
  oneOf,
  orNull,
  required,
  text,
} from "../validation.ts";
import { type Operation, listOf, wireInstant } from "./operation.ts";

const scopesMax = 20;

/** The default time for which a rotated key stays valid next to its successor. */
export const overlapSecondsDefault = 24 * 60 * 60;

const overlapSecondsMax = 7 * 24 * 60 * 60;

const cidrsMax = 20;

/**
 * Far above the limit that any installation uses. Only auth-keys knows the installation's actual
 * limit.
 */
const keyLimitMax = 1_000_000;

const keyLimit = integer({ min: 1, max: keyLimitMax });
const requestsPerMinuteDescription =
  "The key's rate limit in requests per minute, at most the installation's limit. If null, the installation's limit applies.";
const burstDescription =
  "The key's maximum burst in requests, at most the installation's limit. If null, the installation's limit applies.";

const cidr = formattedText({}, isAddressOrCidr);

/** The request body for a new API key. */
export const createApiKeyBody = (now: () => Date) =>
  body({
    name: required(text({ lengthMin: 1, lengthMax: 100 })),
    scopes: required(list(oneOf(scopes), { itemsMin: 1, itemsMax: scopesMax })),
    expiresAt: nullable(futureDateTime(now)).describe(
      "When the key expires. Must be in the future. Null means never.",
    ),
    cidrs: nullable(list(cidr, { itemsMin: 1, itemsMax: cidrsMax })).describe(
      "The IP addresses and CIDR ranges that can use the key. Null allows any address.",
    ),
    requestsPerMinute: nullable(keyLimit).describe(requestsPerMinuteDescription),
    burst: nullable(keyLimit).describe(burstDescription),
    mode: nullable(oneOf(modes)).describe(
      "Whether the key creates and reads live or test links. Defaults to `live`. It cannot be changed later.",
    ),
  }).meta({ id: "NewApiKey" });

/**
 * The changes to a key: whether it is active, and its own rate limit. At least one field is
 * required.
 */
export const ApiKeyChange = body({
  active: optional(bool),
  requestsPerMinute: optional(orNull(keyLimit)).describe(requestsPerMinuteDescription),
  burst: optional(orNull(keyLimit)).describe(burstDescription),
})
  .superRefine((change, context) => {
    if (Object.values(change).some((value) => value !== undefined)) return;
    context.addIssue({ code: "custom", params: { code: "missing" } });
  })
  .meta({ id: "ApiKeyChange", minProperties: 1 });

/** The request body for rotating a key. */
export const RotateApiKeyBody = body({
  overlapSeconds: nullable(integer({ min: 0, max: overlapSecondsMax })).describe(
    `How long the replaced key stays valid, in seconds. Null means ${overlapSecondsDefault}.`,
  ),
}).meta({ id: "ApiKeyRotation" });

/** An API key as its owner sees it later, without the key itself. */
export const ApiKeyData = z
  .object({
    id: z.string(),
    name: z.string(),
    prefix: z.string(),
    mode: Mode,
    scopes: z.array(z.string()),
    cidrs: z.array(z.string()).nullable(),
    requestsPerMinute: z
      .int()
      .min(1)
      .nullable()
      .meta({ description: requestsPerMinuteDescription }),
    burst: z.int().min(1).nullable().meta({ description: burstDescription }),
    expiresAt: wireInstant.nullable(),
    active: z.boolean(),
    replacedBy: z.string().nullable(),
    dateCreated: wireInstant,
    lastUsedAt: wireInstant.nullable(),
    lastUsedAddress: z.string().nullable(),
  })
  .meta({ id: "ApiKeyData" });
export type ApiKeyData = z.output<typeof ApiKeyData>;

/** A new API key, including the key itself. No other response contains it. */
const IssuedApiKey = ApiKeyData.extend({ key: z.string() }).meta({ id: "IssuedApiKey" });

const collectionOperation = {
  path: "/console/api/api-keys",
  caller: "session",
  tag: "API keys",
} as const;
const itemOperation = { ...collectionOperation, path: "/console/api/api-keys/:id" } as const;

/** The operations on the signed-in user's API keys. */
export const apiKeyOperations = (now: () => Date) =>
  ({
    list: {
      ...collectionOperation,
      method: "get",
      operationId: "listApiKeys",
      summary: "List the API keys that are not revoked, newest first",
      responses: { 200: listOf(ApiKeyData).meta({ id: "ApiKeyList" }) },
    },
    create: {
      ...collectionOperation,
      method: "post",
      needsPresence: true,
      operationId: "createApiKey",
      summary: "Create an API key",
      description: "Only this response contains the key.",
      body: createApiKeyBody(now),
      responses: { 201: IssuedApiKey },
      errors: ["API_KEY_LIMIT", "TEST_MODE_UNAVAILABLE"],
    },
    change: {
      ...itemOperation,
      method: "patch",
      operationId: "changeApiKey",
      summary: "Activate, deactivate or rate-limit an API key",
      description:
        "A rotated key shares its rate limit with its replacement, so a limit applies to both together.",
      body: ApiKeyChange,
      responses: { 200: ApiKeyData },
      // Only granting more access, by activating a key or loosening its limit, needs a proof of
      // presence.
      errors: ["REAUTHENTICATION_REQUIRED"],
    },
    revoke: {
      ...itemOperation,
      method: "delete",
      operationId: "revokeApiKey",
      summary: "Revoke an API key permanently",
      responses: { 204: null },
    },
    rotate: {
      ...itemOperation,
      path: `${itemOperation.path}/rotate`,
      method: "post",
      needsPresence: true,
      operationId: "rotateApiKey",
      summary: "Rotate an API key",
      description:
        "Creates a key of the same mode that replaces this one, which stays valid for `overlapSeconds`. Only this response contains " +
        "the new key.",
      body: RotateApiKeyBody,
      responses: { 201: IssuedApiKey },
      errors: ["API_KEY_NOT_ACTIVE", "API_KEY_REPLACED", "API_KEY_LIMIT"],
    },
  }) as const satisfies Record<string, Operation>;
