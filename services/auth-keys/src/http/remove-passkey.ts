import type { Request, Response } from "express";
import { createApiError } from "@payment-links/contracts";
import { createSessionActor, parsePathParameter } from "@payment-links/http";
import type { Caller } from "@payment-links/identity";
import { transact } from "@payment-links/postgres";
import type { Dependencies } from "../dependencies.ts";
import { insertAudit } from "../store/audit-log.ts";
import { deletePasskey } from "../store/passkeys.ts";
import {
  endSessionsOfMethod,
  requireRemainingSignInMethod,
} from "./require-remaining-sign-in-method.ts";

/**
 * DELETE /console/api/passkeys/{id}: removes a passkey. Ends the sessions that it started, except
 * the caller's.
 */
export const removePasskey =
  (dependencies: Dependencies) => async (req: Request, res: Response, caller: Caller) => {
    const id = parsePathParameter(req, "id");
    const accountId = caller.account.id;
    const actor = createSessionActor(req, caller.credential);
    const auditFields = { at: dependencies.clock.now(), accountId, actor };
    await transact(dependencies.pool, async (tx) => {
      // Deletes the passkey first. A concurrent sign-in holds a lock on the passkey until it
      // commits, so this statement waits for it. The session of that sign-in is then visible below
      // and is ended too.
      if (!(await deletePasskey(tx, { id, accountId }))) throw createApiError("NOT_FOUND");
      await requireRemainingSignInMethod(tx, dependencies, caller);
      await insertAudit(tx, { ...auditFields, action: "passkey.removed", targetId: id });
      await endSessionsOfMethod(tx, auditFields, { methodId: id, exceptId: caller.credential.id });
    });
    res.status(204).end();
  };
