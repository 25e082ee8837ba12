import type { Request, Response } from "express";
import { createApiError } from "@payment-links/contracts";
import { sendJson } from "@payment-links/http";
import type { Dependencies } from "../dependencies.ts";
import { findPendingSignIn } from "../store/command-sign-ins.ts";
import { hashUserCode } from "./hash-user-code.ts";

/** GET /console/api/api-keys/sign-ins/{code}: returns the command line that waits for the user. */
export const getCommandSignIn =
  ({ pool, clock }: Dependencies) =>
  async (req: Request, res: Response): Promise<void> => {
    const userHash = hashUserCode(req);
    const signIn = await findPendingSignIn(pool, { userHash, now: clock.now() });
    if (signIn === undefined) throw createApiError("NOT_FOUND");
    const { address, dateCreated, deviceName, expiresAt, mode } = signIn;
    sendJson(res, 200, {
      deviceName,
      mode,
      address,
      dateCreated: dateCreated.toISOString(),
      expiresAt: expiresAt.toISOString(),
    });
  };
