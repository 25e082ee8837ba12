import { createReauthenticationError } from "@payment-links/contracts";
import type { Caller } from "./caller.ts";

/** How long a proof of presence is valid (rule CALLER-19). */
export const presenceMsMax = 10 * 60 * 1000;

/**
 * Throws REAUTHENTICATION_REQUIRED with the account's methods unless the user proved presence in
 * the last 10 minutes. If it is unknown when the user last proved presence, a new proof is
 * required.
 */
export const requirePresence = ({ credential: { presence } }: Caller, now: Date): void => {
  const presenceEndsAtMs = (presence?.provenAt.getTime() ?? -Infinity) + presenceMsMax;
  if (now.getTime() >= presenceEndsAtMs) throw createReauthenticationError(presence?.methods ?? []);
};
