/**
 * A use of a credential, for "last used" and for a session's idle end; a key's with the address that
 * was told.
 */
export type CredentialUse = { id: string; at: Date; address: string | null };

/** Remembers the latest use of each credential until one statement writes all of them down. */
export type LastUses = {
  /** Notes a use. Above the limit a further credential is skipped until the next write. */
  record(use: CredentialUse): void;
  /** Hands over what is noted and forgets it. */
  drain(): CredentialUse[];
};

/** How many credentials are remembered between two writes. */
const lastUsesMax = 20_000;

/** Makes an empty memory of uses. */
export const createLastUses = (entriesMax: number = lastUsesMax): LastUses => {
  let latestUses = new Map<string, CredentialUse>();
  return {
    record: (use) => {
      const previousUse = latestUses.get(use.id);
      if (previousUse === undefined ? latestUses.size >= entriesMax : previousUse.at >= use.at)
        return;
      latestUses.set(use.id, use);
    },
    drain: () => {
      const drainedUses = latestUses;
      latestUses = new Map();
      return [...drainedUses.values()];
    },
  };
};
