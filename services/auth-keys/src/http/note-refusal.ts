import { Refusal } from "@payment-links/contracts";
import type { Deps } from "../deps.ts";
import type { Refusals } from "../domain/refusals.ts";

type Noted = Omit<Parameters<Refusals["note"]>[0], "at" | "reason">;

/**
 * Notes a refusal for the audit log of the account to which the attempt would have led. Our own faults
 * are none, nor is what the audit log has already.
 */
export const noteRefusal = (
  { clock, refusals }: Pick<Deps, "clock" | "refusals">,
  noted: Noted,
  error: unknown,
): void => {
  if (!(error instanceof Refusal) || error.status === 429 || error.status >= 500) return;
  const reason = error.entries[0]?.code ?? "";
  if (reason !== "ACCOUNT_SUSPENDED") refusals.note({ ...noted, at: clock.now(), reason });
};
