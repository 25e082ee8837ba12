import type { Request, Response } from "express";
import { PasskeyChange, refuse } from "@payment-links/contracts";
import { answerJson, personActor, readBody, readParam } from "@payment-links/http";
import type { Caller } from "@payment-links/identity";
import { transact } from "@payment-links/postgres";
import type { Deps } from "../deps.ts";
import { showPasskey } from "../domain/passkey.ts";
import { insertAudit } from "../store/audit-log.ts";
import { renamePasskey } from "../store/passkeys.ts";
import { lockCallersAccount } from "../store/sessions.ts";

/** PATCH /console/api/passkeys/{id}: names a passkey. */
export const changePasskey =
  (deps: Deps) => async (req: Request, res: Response, caller: Caller) => {
    const id = readParam(req, "id");
    const { name } = await readBody(req, PasskeyChange);
    const accountId = caller.account.id;
    const entry = { at: deps.clock.now(), accountId, actor: personActor(req, caller.credential) };
    const passkey = await transact(deps.pool, async (tx) => {
      const renamed = await renamePasskey(tx, { id, accountId, name });
      if (renamed === undefined) throw refuse("NOT_FOUND");
      // Behind the passkey, as a sign-in by it locks them.
      await lockCallersAccount(tx, caller);
      const detail = { name };
      await insertAudit(tx, { ...entry, action: "passkey.renamed", targetId: id, detail });
      return renamed;
    });
    answerJson(res, 200, showPasskey(passkey));
  };
