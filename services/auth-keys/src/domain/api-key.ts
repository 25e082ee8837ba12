import { type ApiKeyData, createValidationError, createApiError } from "@payment-links/contracts";

/**
 * How many API keys an account may have at once. Revoked and replaced keys do not count: an account
 * at its limit must still be able to rotate each key.
 */
export const apiKeysMax = 100;

/** How many replaced keys of an account may still work at once. */
export const replacedKeysMax = 100;

/** The last instant that the wire can carry. */
const timestampMaxMs = Date.parse("9999-12-31T23:59:59.999Z");

/** How fast a key may be used; what the installation grants where null. */
export type KeyRateLimit = { requestsPerMinute: number | null; burst: number | null };

/** An API key as its owner sees it again; the key itself is never seen again. */
export type ApiKey = KeyRateLimit & {
  id: string;
  name: string;
  prefix: string;
  scopes: string[];
  /** From where alone it may be used; from anywhere if null. */
  cidrs: string[] | null;
  expiresAt: Date | null;
  isActive: boolean;
  /** The key that replaced this one, which works until it expires. */
  replacedBy: string | null;
  /** Whose rate bucket it draws on: its own, or that of the first key it was rotated from. */
  bucketId: string;
  dateCreated: Date;
  lastUsedAt: Date | null;
  /** From where that was, as the service told that asked. */
  lastUsedAddress: string | null;
};

type NewApiKey = KeyRateLimit &
  Pick<ApiKey, "id" | "name" | "prefix" | "scopes" | "cidrs" | "expiresAt"> & { now: Date };

/** Throws less_than_equal where a key's own limit is above what the installation grants each key. */
export const requireWithinInstallationLimit = (
  { requestsPerMinute, burst }: { [Field in keyof KeyRateLimit]?: number | null | undefined },
  installationLimit: { tokensPerSecond: number; burst: number },
): void => {
  const isRateWithin = (requestsPerMinute ?? 0) <= installationLimit.tokensPerSecond * 60;
  if (!isRateWithin || (burst ?? 0) > installationLimit.burst)
    throw createValidationError("less_than_equal");
};

/** Whether a limit grants more than another in either way. */
export const isLimitRaised = (limit: KeyRateLimit, previousLimit: KeyRateLimit): boolean =>
  toComparableLimit(limit.requestsPerMinute) > toComparableLimit(previousLimit.requestsPerMinute) ||
  toComparableLimit(limit.burst) > toComparableLimit(previousLimit.burst);

const toComparableLimit = (count: number | null): number => count ?? Infinity;

/** Opens a key with a rate bucket of its own. */
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
 * Opens a key that replaces another (rule CALLER-5). Throws API_KEY_REPLACED, and
 * API_KEY_NOT_ACTIVE for a key that does not work now: a rotation must give no new access.
 */
export const buildRotatedKeys = (
  key: ApiKey,
  { id, prefix, overlapSeconds, now }: Rotation,
): { newKey: ApiKey; replacedKey: ApiKey & { expiresAt: Date; replacedBy: string } } => {
  if (key.replacedBy !== null) throw createApiError("API_KEY_REPLACED");
  const keyExpiresAtMs = key.expiresAt?.getTime() ?? Infinity;
  if (!key.isActive || keyExpiresAtMs <= now.getTime()) throw createApiError("API_KEY_NOT_ACTIVE");
  const overlapEndsAtMs = Math.min(keyExpiresAtMs, now.getTime() + overlapSeconds * 1000);
  const { name, scopes, cidrs, requestsPerMinute, burst, bucketId } = key;
  const copiedFields = { name, scopes, cidrs, requestsPerMinute, burst };
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

/** Shows an API key to its owner (rule CALLER-6). */
export const serializeApiKey = (key: ApiKey): ApiKeyData => ({
  id: key.id,
  name: key.name,
  prefix: key.prefix,
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
