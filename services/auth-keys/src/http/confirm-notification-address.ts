import type { Request, Response } from "express";
import { ConfirmAddressBody, createApiError, hashSecret, newId } from "@payment-links/contracts";
import { createSessionActor, readJsonBody, sendJson } from "@payment-links/http";
import type { Caller } from "@payment-links/identity";
import { transact } from "@payment-links/postgres";
import type { Dependencies } from "../dependencies.ts";
import { serializeNotifications } from "../domain/notification-settings.ts";
import { insertAudit } from "../store/audit-log.ts";
import { queueRemovalNotice } from "../store/emails.ts";
import { confirmAddress, findNotificationSettings } from "../store/notification-settings.ts";
import { lockCallerAccount } from "../store/sessions.ts";
import { deleteUnsubscribeTokensOfAccount } from "../store/unsubscribe-tokens.ts";

/**
 * POST /console/api/account/notifications/address/confirm: confirms the pending address with the
 * token from its email. The token works only in a session of the same account, so a mail scanner
 * that opens the link does not confirm anything.
 */
export const confirmNotificationAddress =
  (dependencies: Dependencies) => async (req: Request, res: Response, caller: Caller) => {
    const { token } = await readJsonBody(req, ConfirmAddressBody);
    const now = dependencies.clock.now();
    const settings = await transact(dependencies.pool, async (tx) => {
      const { id: accountId } = await lockCallerAccount(tx, caller);
      const hash = hashSecret(token);
      const previousAddress = (await findNotificationSettings(tx, accountId))?.address ?? null;
      const confirmedSettings = await confirmAddress(tx, { accountId, hash, now });
      if (confirmedSettings === undefined) throw createApiError("INVALID_CONFIRMATION_TOKEN");
      const hasChanged = previousAddress !== null && previousAddress !== confirmedSettings.address;
      if (hasChanged) await deleteUnsubscribeTokensOfAccount(tx, accountId);
      if (dependencies.sendEmail !== undefined && hasChanged) {
        const notice = { id: newId("evt"), accountId, address: previousAddress, now };
        await queueRemovalNotice(tx, notice);
      }
      await insertAudit(tx, {
        at: now,
        accountId,
        actor: createSessionActor(req, caller.credential),
        action: "account.email_confirmed",
      });
      return confirmedSettings;
    });
    dependencies.wakeRelay();
    const isAvailable = dependencies.sendEmail !== undefined;
    sendJson(res, 200, serializeNotifications(settings, { isAvailable }));
  };
