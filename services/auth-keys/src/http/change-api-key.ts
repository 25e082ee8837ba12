import type { Request, Response } from "express";
import { ApiKeyChange, refuse } from "@payment-links/contracts";
import { answerJson, readBody, readParam } from "@payment-links/http";
import { type Caller, requirePresence } from "@payment-links/identity";
import { transact } from "@payment-links/postgres";
import type { Deps } from "../deps.ts";
import { showApiKey } from "../domain/api-key.ts";
import { lockApiKey, updateApiKeyActive } from "../store/api-keys.ts";
import { insertAudit } from "../store/audit-log.ts";
import { personActor } from "./actors.ts";

/** PATCH /console/api/api-keys/{id}: switches a key off, or on again. */
export const changeApiKey = (deps: Deps) => async (req: Request, res: Response, caller: Caller) => {
  const id = readParam(req, "id");
  const { active: isActive } = await readBody(req, ApiKeyChange);
  // Switching a key off must never wait; switching it on gives access, as a new key does.
  if (isActive) requirePresence(caller, deps.clock.now());
  const now = deps.clock.now();
  const accountId = caller.account.id;
  const key = await transact(deps.pool, async (tx) => {
    const before = await lockApiKey(tx, { accountId, id, now });
    if (before === undefined) throw refuse("NOT_FOUND");
    if (before.isActive === isActive) return before;
    await updateApiKeyActive(tx, { id, isActive });
    await insertAudit(tx, {
      at: now,
      accountId,
      actor: personActor(req, caller.credential),
      action: isActive ? "api_key.activated" : "api_key.deactivated",
      targetId: id,
    });
    return { ...before, isActive };
  });
  answerJson(res, 200, showApiKey(key));
};
