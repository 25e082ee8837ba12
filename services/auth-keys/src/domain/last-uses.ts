/**
 * A use of a credential, for "last used" and for a session's idle end; a key's with the address that
 * was told.
 */
export type CredentialUse = { id: string; at: Date; address: string | null };

/** Remembers the latest use of each credential until one statement writes all of them down. */
export type LastUses = {
  /** Notes a use. Above the limit a further credential is skipped until the next write. */
  note(use: CredentialUse): void;
  /** Hands over what is noted and forgets it. */
  take(): CredentialUse[];
};

/** How many credentials are remembered between two writes. */
const lastUsesMax = 20_000;

/** Makes an empty memory of uses. */
export const createLastUses = (entriesMax: number = lastUsesMax): LastUses => {
  let latest = new Map<string, CredentialUse>();
  return {
    note: (use) => {
      const before = latest.get(use.id);
      if (before === undefined ? latest.size >= entriesMax : before.at >= use.at) return;
      latest.set(use.id, use);
    },
    take: () => {
      const taken = latest;
      latest = new Map();
      return [...taken.values()];
    },
  };
};
