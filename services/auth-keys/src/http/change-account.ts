import type { Request, Response } from "express";
import { AccountChange } from "@payment-links/contracts";
import { sendJson, createSessionActor, readJsonBody } from "@payment-links/http";
import type { Caller } from "@payment-links/identity";
import { transact } from "@payment-links/postgres";
import type { Dependencies } from "../dependencies.ts";
import { applyAccountPatch as applyPatch, serializeAccount } from "../domain/account.ts";
import { parseHandle } from "../domain/handle.ts";
import { publishAccount, updateAccount } from "../store/accounts.ts";
import { insertAudit } from "../store/audit-log.ts";
import { claimHandle } from "../store/handles.ts";
import { lockCallerAccount } from "../store/sessions.ts";

/** PATCH /console/api/account: changes the public profile, including the handle. */
export const changeAccount =
  (dependencies: Dependencies) => async (req: Request, res: Response, caller: Caller) => {
    const { handle: handleInput, ...profile } = await readJsonBody(req, AccountChange);
    const patch =
      handleInput === undefined ? profile : { ...profile, handle: parseHandle(handleInput) };
    const now = dependencies.clock.now();
    const account = await transact(dependencies.pool, async (tx) => {
      const previousAccount = await lockCallerAccount(tx, caller);
      const { updatedAccount, changedFields } = applyPatch(previousAccount, patch);
      if (changedFields.length === 0) return previousAccount;
      if (updatedAccount.handle !== null && updatedAccount.handle !== previousAccount.handle) {
        await claimHandle(tx, { accountId: updatedAccount.id, handle: updatedAccount.handle, now });
      }
      await updateAccount(tx, updatedAccount);
      await insertAudit(tx, {
        at: now,
        accountId: updatedAccount.id,
        actor: createSessionActor(req, caller.credential),
        action: "account.changed",
        detail: { fields: changedFields, handle: updatedAccount.handle },
      });
      return publishAccount(tx, updatedAccount.id, now);
    });
    dependencies.wakeRelay();
    sendJson(res, 200, serializeAccount(account));
  };
