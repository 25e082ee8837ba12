import {
  type ApiKeyData,
  type Mode,
  createApiError,
  createValidationError,
} from "@payment-links/contracts";

/**
 * The maximum number of API keys per account. Revoked and replaced keys do not count, so that an
 * account at its limit can still rotate each key.
 */
export const apiKeysMax = 100;

/** The maximum number of replaced keys per account that still work. */
export const replacedKeysMax = 100;

/** The latest time that the API's date format can express. */
const timestampMaxMs = Date.parse("9999-12-31T23:59:59.999Z");

/** A key's own rate limit; null means the installation's limit. */
export type KeyRateLimit = { requestsPerMinute: number | null; burst: number | null };

/** An API key as its owner sees it after creation, without the secret. */
export type ApiKey = KeyRateLimit & {
  id: string;
  name: string;
  prefix: string;
  mode: Mode;
  scopes: string[];
  /** The networks from which the key can be used. Null allows every network. */
  cidrs: string[] | null;
  expiresAt: Date | null;
  isActive: boolean;
  /** The id of the key that replaced this one. This key works until it expires. */
  replacedBy: string | null;
  /**
   * The rate-limit bucket. A rotated key shares the bucket of the first key in its chain of
   * rotations.
   */
  bucketId: string;
  dateCreated: Date;
  lastUsedAt: Date | null;
  /** The client address of the last use, as reported by the introspecting service. */
  lastUsedAddress: string | null;
};

type NewApiKey = KeyRateLimit &
  Pick<ApiKey, "id" | "name" | "prefix" | "mode" | "scopes" | "cidrs" | "expiresAt"> & {
    now: Date;
  };

/**
 * Throws the error `less_than_equal` if a key's own limit exceeds the installation's limit per key.
 */
export const requireWithinInstallationLimit = (
  { requestsPerMinute, burst }: { [Field in keyof KeyRateLimit]?: number | null | undefined },
  installationLimit: { tokensPerSecond: number; burst: number },
): void => {
  const isRateWithin = (requestsPerMinute ?? 0) <= installationLimit.tokensPerSecond * 60;
  if (!isRateWithin || (burst ?? 0) > installationLimit.burst)
    throw createValidationError("less_than_equal");
};

/** Returns whether a limit allows more than the previous one, in its rate or its burst. */
export const isLimitRaised = (limit: KeyRateLimit, previousLimit: KeyRateLimit): boolean =>
  toComparableLimit(limit.requestsPerMinute) > toComparableLimit(previousLimit.requestsPerMinute) ||
  toComparableLimit(limit.burst) > toComparableLimit(previousLimit.burst);

const toComparableLimit = (count: number | null): number => count ?? Infinity;

/** Builds a new key with its own rate-limit bucket. */
export const buildApiKey = ({ now, ...key }: NewApiKey): ApiKey => ({
  ...key,
  isActive: true,
  replacedBy: null,
  bucketId: key.id,
  dateCreated: now,
  lastUsedAt: null,
  lastUsedAddress: null,
});

type Rotation = { id: string; prefix: string; overlapSeconds: number; now: Date };

/**
 * Builds a key that replaces another (rule CALLER-5). Throws API_KEY_REPLACED, or
 * API_KEY_NOT_ACTIVE for a key that does not work now, because a rotation must not grant new
 * access.
 */
export const buildRotatedKeys = (
  key: ApiKey,
  { id, prefix, overlapSeconds, now }: Rotation,
): { newKey: ApiKey; replacedKey: ApiKey & { expiresAt: Date; replacedBy: string } } => {
  if (key.replacedBy !== null) throw createApiError("API_KEY_REPLACED");
  const keyExpiresAtMs = key.expiresAt?.getTime() ?? Infinity;
  if (!key.isActive || keyExpiresAtMs <= now.getTime()) throw createApiError("API_KEY_NOT_ACTIVE");
  const overlapEndsAtMs = Math.min(keyExpiresAtMs, now.getTime() + overlapSeconds * 1000);
  const { name, mode, scopes, cidrs, requestsPerMinute, burst, bucketId } = key;
  const copiedFields = { name, mode, scopes, cidrs, requestsPerMinute, burst };
  const expiresAt = getRenewedExpiry(key, now);
  return {
    newKey: { ...buildApiKey({ ...copiedFields, id, prefix, expiresAt, now }), bucketId },
    replacedKey: { ...key, expiresAt: new Date(overlapEndsAtMs), replacedBy: id },
  };
};

const getRenewedExpiry = ({ expiresAt, dateCreated }: ApiKey, now: Date): Date | null => {
  if (expiresAt === null) return null;
  const lifetimeMs = expiresAt.getTime() - dateCreated.getTime();
  return new Date(Math.min(now.getTime() + lifetimeMs, timestampMaxMs));
};

/** Serializes an API key for its owner (rule CALLER-6). */
export const serializeApiKey = (key: ApiKey): ApiKeyData => ({
  id: key.id,
  name: key.name,
  prefix: key.prefix,
  mode: key.mode,
  scopes: key.scopes,
  cidrs: key.cidrs,
  requestsPerMinute: key.requestsPerMinute,
  burst: key.burst,
  expiresAt: key.expiresAt?.toISOString() ?? null,
  active: key.isActive,
  replacedBy: key.replacedBy,
  dateCreated: key.dateCreated.toISOString(),
  lastUsedAt: key.lastUsedAt?.toISOString() ?? null,
  lastUsedAddress: key.lastUsedAddress,
});
