import { ApiError } from "@payment-links/contracts";
import type { Dependencies } from "../dependencies.ts";
import type { RejectedSignIns } from "../domain/rejected-sign-ins.ts";

type RejectedAttempt = Omit<Parameters<RejectedSignIns["record"]>[0], "at" | "reason">;

/**
 * Records a rejected attempt for the audit log of the claimed account. Skips server errors,
 * rate-limited requests, and ACCOUNT_SUSPENDED, which `signIn` already logs.
 */
export const recordRejectedSignIn = (
  { clock, rejectedSignIns }: Pick<Dependencies, "clock" | "rejectedSignIns">,
  attempt: RejectedAttempt,
  error: unknown,
): void => {
  if (!(error instanceof ApiError) || error.status === 429 || error.status >= 500) return;
  const reason = error.entries[0]?.code ?? "";
  if (reason !== "ACCOUNT_SUSPENDED")
    rejectedSignIns.record({ ...attempt, at: clock.now(), reason });
};
