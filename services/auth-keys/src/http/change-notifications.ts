import type { Request, Response } from "express";
import { NotificationsChange } from "@payment-links/contracts";
import { createSessionActor, readJsonBody, sendJson } from "@payment-links/http";
import type { Caller } from "@payment-links/identity";
import { transact } from "@payment-links/postgres";
import type { Dependencies } from "../dependencies.ts";
import { applySwitches, serializeNotifications } from "../domain/notification-settings.ts";
import { insertAudit } from "../store/audit-log.ts";
import { findNotificationSettings, saveDisabledKinds } from "../store/notification-settings.ts";
import { lockCallerAccount } from "../store/sessions.ts";
import { getLanguage } from "./get-language.ts";

/** PATCH /console/api/account/notifications: switches kinds of notifications on or off. */
export const changeNotifications =
  (dependencies: Dependencies) => async (req: Request, res: Response, caller: Caller) => {
    const switches = await readJsonBody(req, NotificationsChange);
    const now = dependencies.clock.now();
    const settings = await transact(dependencies.pool, async (tx) => {
      const { id: accountId } = await lockCallerAccount(tx, caller);
      const storedSettings = await findNotificationSettings(tx, accountId);
      const storedKinds = storedSettings?.disabledKinds ?? [];
      const disabledKinds = applySwitches(storedKinds, switches);
      if (disabledKinds.join() === storedKinds.join()) return storedSettings;
      const language = getLanguage(req);
      const newSettings = await saveDisabledKinds(tx, { accountId, disabledKinds, language });
      await insertAudit(tx, {
        at: now,
        accountId,
        actor: createSessionActor(req, caller.credential),
        action: "account.notifications_changed",
        detail: { disabledKinds },
      });
      return newSettings;
    });
    dependencies.wakeRelay();
    const isAvailable = dependencies.sendEmail !== undefined;
    sendJson(res, 200, serializeNotifications(settings, { isAvailable }));
  };
