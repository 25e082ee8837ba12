import type { Request, Response } from "express";
import { createApiError } from "@payment-links/contracts";
import { createSessionActor } from "@payment-links/http";
import type { Caller } from "@payment-links/identity";
import { transact } from "@payment-links/postgres";
import type { Dependencies } from "../dependencies.ts";
import { insertAudit } from "../store/audit-log.ts";
import { denyCommandSignIn as storeDenial } from "../store/command-sign-ins.ts";
import { hashUserCode } from "./hash-user-code.ts";

/** POST /console/api/api-keys/sign-ins/{code}/deny: denies the sign-in of a command line. */
export const denyCommandSignIn =
  ({ pool, clock }: Dependencies) =>
  async (req: Request, res: Response, { account, credential }: Caller): Promise<void> => {
    const userHash = hashUserCode(req);
    const now = clock.now();
    await transact(pool, async (tx) => {
      const signIn = await storeDenial(tx, { userHash, now });
      if (signIn === undefined) throw createApiError("NOT_FOUND");
      await insertAudit(tx, {
        at: now,
        accountId: account.id,
        actor: createSessionActor(req, credential),
        action: "command_sign_in.denied",
        detail: { deviceName: signIn.deviceName, deviceAddress: signIn.address },
      });
    });
    res.status(204).end();
  };
