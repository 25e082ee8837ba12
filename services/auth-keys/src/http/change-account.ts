import type { Request, Response } from "express";
import { AccountChange } from "@payment-links/contracts";
import { answerJson, personActor, readBody } from "@payment-links/http";
import type { Caller } from "@payment-links/identity";
import { transact } from "@payment-links/postgres";
import type { Deps } from "../deps.ts";
import { changeAccount as decideChange, showAccount } from "../domain/account.ts";
import { readHandle } from "../domain/handle.ts";
import { publishAccount, updateAccount } from "../store/accounts.ts";
import { insertAudit } from "../store/audit-log.ts";
import { claimHandle } from "../store/handles.ts";
import { lockCallersAccount } from "../store/sessions.ts";

/** PATCH /console/api/account: the owner changes the public profile, the handle included. */
export const changeAccount =
  (deps: Deps) => async (req: Request, res: Response, caller: Caller) => {
    const { handle: typed, ...profile } = await readBody(req, AccountChange);
    const change = typed === undefined ? profile : { ...profile, handle: readHandle(typed) };
    const now = deps.clock.now();
    const account = await transact(deps.pool, async (tx) => {
      const before = await lockCallersAccount(tx, caller);
      const { changed: after, fields } = decideChange(before, change);
      if (fields.length === 0) return before;
      if (after.handle !== null && after.handle !== before.handle) {
        await claimHandle(tx, { accountId: after.id, handle: after.handle, now });
      }
      await updateAccount(tx, after);
      await insertAudit(tx, {
        at: now,
        accountId: after.id,
        actor: personActor(req, caller.credential),
        action: "account.changed",
        detail: { fields, handle: after.handle },
      });
      return publishAccount(tx, after.id, now);
    });
    deps.wakeRelay();
    answerJson(res, 200, showAccount(account));
  };
