/**
 * A use of a credential. It determines "last used" and a session's idle timeout. Uses of API keys
 * include the reported client address.
 */
export type CredentialUse = { id: string; at: Date; address: string | null };

/** Collects the latest use of each credential until one statement writes all of them. */
export type LastUses = {
  /**
   * Records a use. Above the limit, uses of further credentials are skipped until the next write.
   */
  record(use: CredentialUse): void;
  /** Returns the collected uses and clears them. */
  drain(): CredentialUse[];
};

/** The maximum number of credentials between two writes. */
const lastUsesMax = 20_000;

/** Creates an empty collection of uses. */
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
