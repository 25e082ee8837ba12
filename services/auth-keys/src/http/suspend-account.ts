import type { Request, Response } from "express";
import { type Account, body, nullable, text, type Actor } from "@payment-links/contracts";
import { answerJson, readBody } from "@payment-links/http";
import { type Transaction, transact } from "@payment-links/postgres";
import type { Deps } from "../deps.ts";
import { lockAccount, publishAccount, updateSuspension } from "../store/accounts.ts";
import { insertAudit, insertAuditOfEach } from "../store/audit-log.ts";
import { deleteSessionsOfAccount } from "../store/sessions.ts";
import { deleteSignInTokensOfAccount } from "../store/sign-in-tokens.ts";
import { operatorActor } from "./actors.ts";
import { accountName, findNamedAccount } from "./find-named-account.ts";
import { cancelDefault } from "./pending-default.ts";

const SuspensionBody = body({ ...accountName, reason: nullable(text({ lengthMax: 500 })) });

/**
 * POST /internal/accounts/suspend: an operator keeps an account's keys, sessions and links from
 * working (rule CALLER-17). Its sessions stay in the table until it is resumed, so that they are
 * refused by a code that says why.
 */
export const suspendAccount = (deps: Deps) => setSuspension(deps, true);

/** POST /internal/accounts/resume: the account works again; none of its sessions from before does. */
export const resumeAccount = (deps: Deps) => setSuspension(deps, false);

const setSuspension = (deps: Deps, isSuspended: boolean) => async (req: Request, res: Response) => {
  const { reason, ...name } = await readBody(req, SuspensionBody);
  const { id, handle } = await findNamedAccount(deps.pool, name);
  const now = deps.clock.now();
  const actor = operatorActor(req);
  await transact(deps.pool, async (tx) => {
    const account = await lockAccount(tx, id);
    if (account.isSuspended !== isSuspended) await change(tx, account, { actor, reason, now });
  });
  deps.wakeRelay();
  answerJson(res, 200, { userId: id, handle, isSuspended });
};

const change = async (
  tx: Transaction,
  { id: accountId, isSuspended }: Account,
  { actor, reason, now }: { actor: Actor; reason: string | null; now: Date },
): Promise<void> => {
  const isOver = isSuspended === true;
  await updateSuspension(tx, { accountId, since: isOver ? null : now });
  await deleteSignInTokensOfAccount(tx, accountId);
  const ended = isOver ? await deleteSessionsOfAccount(tx, accountId) : [];
  // Nobody could cancel it meanwhile, and it may be what the account is suspended for.
  await cancelDefault(tx, { at: now, accountId, actor });
  await insertAudit(tx, {
    at: now,
    accountId,
    actor,
    action: isOver ? "account.resumed" : "account.suspended",
    detail: { reason },
  });
  await insertAuditOfEach(tx, { at: now, accountId, actor, action: "session.revoked" }, ended);
  await publishAccount(tx, accountId, now);
};
