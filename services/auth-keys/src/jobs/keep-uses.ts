import type { Deps } from "../deps.ts";
import type { CredentialUse, LastUses } from "../domain/last-uses.ts";
import { keepLastUses } from "../store/last-uses.ts";

type KeepUsesDeps = Pick<Deps, "pool" | "apiKeyUses" | "sessionUses">;

/**
 * Writes down when keys and sessions were last used, however many calls there were, in one
 * statement each. If that fails, the uses stay noted for the next time. A crash loses those since
 * the last time.
 */
export const keepUses = async ({ pool, apiKeyUses, sessionUses }: KeepUsesDeps): Promise<void> => {
  await keep(apiKeyUses, (uses) => keepLastUses(pool, "api-key", uses));
  await keep(sessionUses, (uses) => keepLastUses(pool, "session", uses));
};

const keep = async (
  noted: LastUses,
  write: (uses: readonly CredentialUse[]) => Promise<void>,
): Promise<void> => {
  const uses = noted.take();
  try {
    await write(uses);
  } catch (error) {
    for (const use of uses) noted.note(use);
    throw error;
  }
};
