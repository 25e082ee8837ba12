import type { Request, Response } from "express";
import { NotificationAddressBody, createApiError, newId } from "@payment-links/contracts";
import { createSessionActor, readJsonBody, sendJson } from "@payment-links/http";
import type { Caller } from "@payment-links/identity";
import { transact } from "@payment-links/postgres";
import type { Dependencies } from "../dependencies.ts";
import { serializeNotifications } from "../domain/notification-settings.ts";
import { insertAudit } from "../store/audit-log.ts";
import { queueConfirmation } from "../store/emails.ts";
import { savePendingAddress } from "../store/notification-settings.ts";
import { lockCallerAccount } from "../store/sessions.ts";
import { getLanguage } from "./get-language.ts";

const retryAfterSeconds = 3_600;

/**
 * POST /console/api/account/notifications/address: stores a pending address and queues the email
 * with its confirmation link. The audit log does not contain the address, because it is personal
 * data that would stay there.
 */
export const setNotificationAddress =
  (dependencies: Dependencies) => async (req: Request, res: Response, caller: Caller) => {
    const { address } = await readJsonBody(req, NotificationAddressBody);
    if (dependencies.sendEmail === undefined) throw createApiError("EMAIL_UNAVAILABLE");
    const now = dependencies.clock.now();
    const language = getLanguage(req);
    const settings = await transact(dependencies.pool, async (tx) => {
      const { id: accountId } = await lockCallerAccount(tx, caller);
      const pendingSettings = await savePendingAddress(tx, { accountId, address, language });
      const isQueued = await queueConfirmation(tx, { id: newId("evt"), accountId, address, now });
      if (!isQueued) {
        res.setHeader("Retry-After", String(retryAfterSeconds));
        throw createApiError("429");
      }
      await insertAudit(tx, {
        at: now,
        accountId,
        actor: createSessionActor(req, caller.credential),
        action: "account.email_requested",
      });
      return pendingSettings;
    });
    dependencies.wakeRelay();
    sendJson(res, 200, serializeNotifications(settings, { isAvailable: true }));
  };
