import { createReauthenticationError } from "@payment-links/contracts";
import type { Caller } from "./caller.ts";

/** For so long a proof of presence counts (rule CALLER-19). */
export const presenceMsMax = 10 * 60 * 1000;

/**
 * Throws REAUTHENTICATION_REQUIRED, with the methods of the account, unless the session's person has
 * proven to be there in the last ten minutes. Where nothing is known of a proof, there was none.
 */
export const requirePresence = ({ credential: { presence } }: Caller, now: Date): void => {
  const presenceEndsAtMs = (presence?.provenAt.getTime() ?? -Infinity) + presenceMsMax;
  if (now.getTime() >= presenceEndsAtMs) throw createReauthenticationError(presence?.methods ?? []);
};
