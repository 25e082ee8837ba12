/** How many API keys an account may have at once; revoked ones do not count. */
export const apiKeysMax = 100;

/** An API key as its owner sees it again; the key itself is never seen again. */
export type ApiKey = {
  id: string;
  name: string;
  prefix: string;
  scopes: string[];
  expiresAt: Date | null;
  isActive: boolean;
  dateCreated: Date;
  lastUsedAt: Date | null;
};

/** Shows an API key to its owner (interfaces §3). */
export const showApiKey = (key: ApiKey) => ({
  id: key.id,
  name: key.name,
  prefix: key.prefix,
  scopes: key.scopes,
  expiresAt: key.expiresAt?.toISOString() ?? null,
  active: key.isActive,
  dateCreated: key.dateCreated.toISOString(),
  lastUsedAt: key.lastUsedAt?.toISOString() ?? null,
});
