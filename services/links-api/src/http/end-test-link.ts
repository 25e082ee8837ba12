import type { Request, Response } from "express";
import { sendJson } from "@payment-links/http";
import type { Caller } from "@payment-links/identity";
import { transact } from "@payment-links/postgres";
import type { Dependencies } from "../dependencies.ts";
import { getInactiveReason } from "../domain/link.ts";
import { getOwnLink } from "./get-own-link.ts";
import { lockTestLink, requireTestKey } from "./lock-test-link.ts";
import { saveEndedLink } from "./save-ended-link.ts";
import { requireHandle, serializeLink } from "./serialize-link.ts";

/**
 * POST /v1/test/payment-link/:id/expire and /deactivate: ends a test link now (rule MODE-7). If it
 * has already ended in this way, nothing changes.
 */
export const endTestLink =
  (dependencies: Dependencies, end: "expire" | "deactivate") =>
  async (req: Request, res: Response, caller: Caller): Promise<void> => {
    requireTestKey(caller);
    const now = dependencies.clock.now();
    const hasChanged = await transact(dependencies.pool, async (tx) => {
      const link = await lockTestLink(tx, req, caller);
      const reason = end === "expire" ? "expired" : "deactivated";
      if (getInactiveReason(link, now) === reason) return false;
      await saveEndedLink(tx, end, { link, now });
      return true;
    });
    if (hasChanged) {
      dependencies.counters.countStatusChange("active", "inactive");
      dependencies.wakeRelay();
    }
    const link = await getOwnLink(dependencies, req, caller);
    const handle = requireHandle(caller.account);
    sendJson(res, 200, serializeLink(dependencies, link, { handle, now }));
  };
