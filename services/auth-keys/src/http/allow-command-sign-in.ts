import type { Request, Response } from "express";
import { AllowCommandSignInBody, createApiError } from "@payment-links/contracts";
import { createSessionActor, readJsonBody } from "@payment-links/http";
import type { Caller } from "@payment-links/identity";
import { transact } from "@payment-links/postgres";
import type { Dependencies } from "../dependencies.ts";
import { insertAudit } from "../store/audit-log.ts";
import { allowCommandSignIn as storeAllowance } from "../store/command-sign-ins.ts";
import { lockCallerAccount } from "../store/sessions.ts";
import { hashUserCode } from "./hash-user-code.ts";
import { requireBelowKeyLimit } from "./issue-api-key.ts";

/**
 * POST /console/api/api-keys/sign-ins/{code}/allow: allows a command line to get an API key of the
 * user's account. Its next poll creates the key.
 */
export const allowCommandSignIn =
  ({ pool, clock }: Dependencies) =>
  async (req: Request, res: Response, caller: Caller): Promise<void> => {
    const { scopes } = await readJsonBody(req, AllowCommandSignInBody);
    const userHash = hashUserCode(req);
    const accountId = caller.account.id;
    const actor = createSessionActor(req, caller.credential);
    const now = clock.now();
    await transact(pool, async (tx) => {
      await lockCallerAccount(tx, caller);
      // Checked again when the key is created. Here, the user can do something about it.
      await requireBelowKeyLimit(tx, { accountId, now });
      const allowance = { userHash, now, accountId, scopes: [...new Set(scopes)], actor };
      const signIn = await storeAllowance(tx, allowance);
      if (signIn === undefined) throw createApiError("NOT_FOUND");
      const { address: deviceAddress, deviceName, mode } = signIn;
      const detail = { deviceName, deviceAddress, mode, scopes: allowance.scopes };
      await insertAudit(tx, {
        at: now,
        accountId,
        actor,
        action: "command_sign_in.allowed",
        detail,
      });
    });
    res.status(204).end();
  };
