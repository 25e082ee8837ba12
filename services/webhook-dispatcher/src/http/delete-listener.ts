import type { Request, Response } from "express";
import { createApiError } from "@payment-links/contracts";
import type { Caller } from "@payment-links/identity";
import type { Dependencies } from "../dependencies.ts";
import { deleteListener as deleteStored } from "../store/listeners.ts";
import { parseId } from "./parse-id.ts";

/** DELETE /command/webhook-listeners/{id}: ends a listener and deletes its events. */
export const deleteListener =
  ({ pool, listenerStreams }: Dependencies) =>
  async (req: Request, res: Response, { account, credential }: Caller): Promise<void> => {
    const { mode = "live" } = credential;
    const id = parseId(req, "whl");
    const wasDeleted = await deleteStored(pool, { id, mode, userId: account.id });
    if (!wasDeleted) throw createApiError("NOT_FOUND");
    listenerStreams.wake();
    res.status(204).end();
  };
