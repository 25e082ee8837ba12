import type { Request, Response } from "express";
import { sendJson } from "@payment-links/http";
import type { Caller } from "@payment-links/identity";
import type { Dependencies } from "../dependencies.ts";
import { serializeNotifications } from "../domain/notification-settings.ts";
import { findNotificationSettings } from "../store/notification-settings.ts";

/** GET /console/api/account/notifications: returns the account's email notification settings. */
export const getNotifications =
  ({ pool, sendEmail }: Dependencies) =>
  async (_req: Request, res: Response, caller: Caller) => {
    const settings = await findNotificationSettings(pool, caller.account.id);
    const isAvailable = sendEmail !== undefined;
    sendJson(res, 200, serializeNotifications(settings, { isAvailable }));
  };
