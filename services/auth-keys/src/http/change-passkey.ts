import type { Request, Response } from "express";
import { PasskeyChange, createApiError } from "@payment-links/contracts";
import {
  sendJson,
  createSessionActor,
  readJsonBody,
  parsePathParameter,
} from "@payment-links/http";
import type { Caller } from "@payment-links/identity";
import { transact } from "@payment-links/postgres";
import type { Dependencies } from "../dependencies.ts";
import { serializePasskey } from "../domain/passkey.ts";
import { insertAudit } from "../store/audit-log.ts";
import { renamePasskey } from "../store/passkeys.ts";
import { lockCallerAccount } from "../store/sessions.ts";

/** PATCH /console/api/passkeys/{id}: renames a passkey. */
export const changePasskey =
  (dependencies: Dependencies) => async (req: Request, res: Response, caller: Caller) => {
    const id = parsePathParameter(req, "id");
    const { name } = await readJsonBody(req, PasskeyChange);
    const accountId = caller.account.id;
    const auditFields = {
      at: dependencies.clock.now(),
      accountId,
      actor: createSessionActor(req, caller.credential),
    };
    const passkey = await transact(dependencies.pool, async (tx) => {
      const renamedPasskey = await renamePasskey(tx, { id, accountId, name });
      if (renamedPasskey === undefined) throw createApiError("NOT_FOUND");
      // Locks the account after the passkey, in the same order as a sign-in with a passkey.
      await lockCallerAccount(tx, caller);
      const detail = { name };
      await insertAudit(tx, { ...auditFields, action: "passkey.renamed", targetId: id, detail });
      return renamedPasskey;
    });
    sendJson(res, 200, serializePasskey(passkey));
  };
