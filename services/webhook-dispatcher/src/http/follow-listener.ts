import type { Request, Response } from "express";
import { createApiError } from "@payment-links/contracts";
import { writeStreamHead } from "@payment-links/http";
import type { Caller } from "@payment-links/identity";
import { transact } from "@payment-links/postgres";
import type { Dependencies } from "../dependencies.ts";
import { openSecret } from "../domain/secret-keys.ts";
import { connectListener } from "../store/listeners.ts";
import { parseId } from "./parse-id.ts";

const retryAfterSeconds = 10;

/**
 * GET /command/webhook-listeners/{id}/events: sends a listener's events as server-sent events.
 * `Last-Event-ID` acknowledges the events up to that id (rule HOOK-22).
 */
export const followListener =
  ({ pool, clock, listenerStreams, secretKeys }: Dependencies) =>
  async (req: Request, res: Response, { account, credential }: Caller): Promise<void> => {
    const { mode = "live" } = credential;
    const id = parseId(req, "whl");
    const lastNumber = parseLastEventId(req.get("last-event-id"));
    const listener = await transact(pool, (tx) =>
      connectListener(tx, { id, mode, userId: account.id, lastNumber }, clock.now()),
    );
    // If its key was removed from the configuration, the client creates another listener.
    if (listener === null || !secretKeys.byName.has(listener.keyName))
      throw createApiError("NOT_FOUND");
    const { acknowledgedNumber, ...sealedSecret } = listener;
    const secret = openSecret(secretKeys, sealedSecret, id);
    if (res.destroyed) return;
    if (!listenerStreams.hasRoom(id)) {
      res.setHeader("Retry-After", String(retryAfterSeconds));
      throw createApiError("SERVICE_UNAVAILABLE");
    }
    writeStreamHead(res);
    if (req.method === "HEAD") return void res.end();
    listenerStreams.addStream({ id, secret, acknowledgedNumber }, res);
  };

/** Parses a stream's event id. Any other text acknowledges nothing. */
const parseLastEventId = (text = ""): number => (/^\d{1,15}$/.test(text) ? Number(text) : 0);
