import type { Request, Response } from "express";
import { newId } from "@payment-links/contracts";
import { sendJson } from "@payment-links/http";
import type { Caller } from "@payment-links/identity";
import { transact } from "@payment-links/postgres";
import type { Dependencies } from "../dependencies.ts";
import { generateSecret } from "../domain/endpoint.ts";
import { sealSecret } from "../domain/secret-keys.ts";
import { lockEndpoints } from "../store/endpoints.ts";
import { insertListener } from "../store/listeners.ts";

/**
 * POST /command/webhook-listeners: creates a listener of the account's webhooks in the mode of the
 * key, and returns its secret, which is shown only once (rule HOOK-22).
 */
export const createListener =
  ({ pool, clock, headerPrefix, secretKeys }: Dependencies) =>
  async (_req: Request, res: Response, { account, credential }: Caller): Promise<void> => {
    const { mode = "live" } = credential;
    const id = newId("whl");
    const secret = generateSecret();
    const sealed = sealSecret(secretKeys, secret, id);
    await transact(pool, async (tx) => {
      await lockEndpoints(tx, account.id);
      const dateCreated = clock.now();
      await insertListener(tx, { id, userId: account.id, mode, ...sealed, dateCreated });
    });
    sendJson(res, 201, { id, secret, headerPrefix });
  };
