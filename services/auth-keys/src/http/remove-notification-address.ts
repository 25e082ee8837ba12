import type { Request, Response } from "express";
import { newId } from "@payment-links/contracts";
import { createSessionActor, sendJson } from "@payment-links/http";
import type { Caller } from "@payment-links/identity";
import { transact } from "@payment-links/postgres";
import type { Dependencies } from "../dependencies.ts";
import { serializeNotifications } from "../domain/notification-settings.ts";
import { insertAudit } from "../store/audit-log.ts";
import { queueRemovalNotice } from "../store/emails.ts";
import { findNotificationSettings, removeAddresses } from "../store/notification-settings.ts";
import { lockCallerAccount } from "../store/sessions.ts";
import { deleteUnsubscribeTokensOfAccount } from "../store/unsubscribe-tokens.ts";

/** DELETE /console/api/account/notifications/address: removes the address and a pending one. */
export const removeNotificationAddress =
  (dependencies: Dependencies) => async (req: Request, res: Response, caller: Caller) => {
    const now = dependencies.clock.now();
    const settings = await transact(dependencies.pool, async (tx) => {
      const { id: accountId } = await lockCallerAccount(tx, caller);
      const previousSettings = await findNotificationSettings(tx, accountId);
      const changedSettings = await removeAddresses(tx, accountId);
      if (changedSettings === undefined) return previousSettings;
      await deleteUnsubscribeTokensOfAccount(tx, accountId);
      if (dependencies.sendEmail !== undefined && previousSettings?.address) {
        const { address } = previousSettings;
        await queueRemovalNotice(tx, { id: newId("evt"), accountId, address, now });
      }
      await insertAudit(tx, {
        at: now,
        accountId,
        actor: createSessionActor(req, caller.credential),
        action: "account.email_removed",
      });
      return changedSettings;
    });
    dependencies.wakeRelay();
    const isAvailable = dependencies.sendEmail !== undefined;
    sendJson(res, 200, serializeNotifications(settings, { isAvailable }));
  };
