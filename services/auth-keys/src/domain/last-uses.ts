/** A use of a credential, for "last used" and for a session's idle end. */
export type CredentialUse = { id: string; at: Date };

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
  let latest = new Map<string, Date>();
  return {
    note: ({ id, at }) => {
      const before = latest.get(id);
      if (before === undefined ? latest.size >= entriesMax : before >= at) return;
      latest.set(id, at);
    },
    take: () => {
      const taken = latest;
      latest = new Map();
      return [...taken].map(([id, at]) => ({ id, at }));
    },
  };
};
