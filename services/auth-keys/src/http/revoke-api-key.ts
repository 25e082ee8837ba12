import type { Request, Response } from "express";
import { createApiError } from "@payment-links/contracts";
import { createSessionActor, parsePathParameter } from "@payment-links/http";
import type { Caller } from "@payment-links/identity";
import { transact } from "@payment-links/postgres";
import type { Dependencies } from "../dependencies.ts";
import { lockApiKey, revokeApiKey as revokeStoredKey } from "../store/api-keys.ts";
import { insertAudit } from "../store/audit-log.ts";

/**
 * DELETE /console/api/api-keys/{id}: revokes a key permanently. Every service rejects the key
 * within 5 s (rule CALLER-4).
 */
export const revokeApiKey =
  (dependencies: Dependencies) => async (req: Request, res: Response, caller: Caller) => {
    const id = parsePathParameter(req, "id");
    const now = dependencies.clock.now();
    const accountId = caller.account.id;
    await transact(dependencies.pool, async (tx) => {
      const key = await lockApiKey(tx, { accountId, id, now });
      if (key === undefined) throw createApiError("NOT_FOUND");
      await revokeStoredKey(tx, { id, now });
      await insertAudit(tx, {
        at: now,
        accountId,
        actor: createSessionActor(req, caller.credential),
        action: "api_key.revoked",
        targetId: id,
      });
    });
    res.status(204).end();
  };
