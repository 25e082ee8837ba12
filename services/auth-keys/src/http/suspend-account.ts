import type { Request, Response } from "express";
import { type Account, body, nullable, text, type Actor } from "@payment-links/contracts";
import { sendJson, readJsonBody } from "@payment-links/http";
import { type Transaction, transact } from "@payment-links/postgres";
import type { Dependencies } from "../dependencies.ts";
import { lockAccount, publishAccount, updateSuspension } from "../store/accounts.ts";
import { insertAudit, insertAuditForEach } from "../store/audit-log.ts";
import { deleteCommandSignInsOfAccount } from "../store/command-sign-ins.ts";
import { deleteSessionsOfAccount } from "../store/sessions.ts";
import { deleteSignInTokensOfAccount } from "../store/sign-in-tokens.ts";
import { operatorActor } from "./actors.ts";
import { accountSelectorFields, findSelectedAccount } from "./find-selected-account.ts";
import { cancelDefault } from "./pending-default.ts";

const SuspensionBody = body({
  ...accountSelectorFields,
  reason: nullable(text({ lengthMax: 500 })),
});

/**
 * POST /internal/accounts/suspend: disables an account's keys, sessions, sign-in links and allowed
 * command sign-ins (rule CALLER-17). The sessions stay in the table until the account is resumed,
 * so that requests are rejected with a code that states the reason.
 */
export const suspendAccount = (dependencies: Dependencies) => setSuspension(dependencies, true);

/** POST /internal/accounts/resume: reactivates the account, but not its earlier sessions. */
export const resumeAccount = (dependencies: Dependencies) => setSuspension(dependencies, false);

const setSuspension =
  (dependencies: Dependencies, isSuspended: boolean) => async (req: Request, res: Response) => {
    const { reason, ...accountSelector } = await readJsonBody(req, SuspensionBody);
    const { id, handle } = await findSelectedAccount(dependencies.pool, accountSelector);
    const now = dependencies.clock.now();
    const actor = operatorActor(req);
    await transact(dependencies.pool, async (tx) => {
      const account = await lockAccount(tx, id);
      if (account.isSuspended !== isSuspended)
        await toggleSuspension(tx, account, { actor, reason, now });
    });
    dependencies.wakeRelay();
    sendJson(res, 200, { userId: id, handle, isSuspended });
  };

const toggleSuspension = async (
  tx: Transaction,
  { id: accountId, isSuspended }: Account,
  { actor, reason, now }: { actor: Actor; reason: string | null; now: Date },
): Promise<void> => {
  const isResuming = isSuspended === true;
  await updateSuspension(tx, { accountId, since: isResuming ? null : now });
  await deleteSignInTokensOfAccount(tx, accountId);
  await deleteCommandSignInsOfAccount(tx, accountId);
  const endedSessionIds = isResuming ? await deleteSessionsOfAccount(tx, accountId) : [];
  // Cancels the pending change of the default wallet. The owner could not cancel it during a
  // suspension, and it may be the reason for the suspension.
  await cancelDefault(tx, { at: now, accountId, actor });
  await insertAudit(tx, {
    at: now,
    accountId,
    actor,
    action: isResuming ? "account.resumed" : "account.suspended",
    detail: { reason },
  });
  await insertAuditForEach(
    tx,
    { at: now, accountId, actor, action: "session.revoked" },
    endedSessionIds,
  );
  await publishAccount(tx, accountId, now);
};
