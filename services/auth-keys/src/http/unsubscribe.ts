import type { Request, Response } from "express";
import { readBodyBytes } from "@payment-links/http";
import { transact } from "@payment-links/postgres";
import type { Dependencies } from "../dependencies.ts";
import { applySwitches } from "../domain/notification-settings.ts";
import { insertAudit } from "../store/audit-log.ts";
import { lockAccount } from "../store/accounts.ts";
import { findNotificationSettings, saveDisabledKinds } from "../store/notification-settings.ts";
import { visitorActor } from "./actors.ts";
import { requireUnsubscribeToken } from "./require-unsubscribe-token.ts";
import { sendUnsubscribed } from "./send-unsubscribe-page.ts";

/**
 * POST /console/api/unsubscribe/:token: switches the kinds of an unsubscribe link off (RFC 8058). A
 * mail program or the link's page sends it. It is the only request that another site can make a
 * browser send, because the token in the path authorizes it, not a cookie. A repeat changes nothing.
 */
export const unsubscribe =
  (dependencies: Pick<Dependencies, "clock" | "pool" | "wakeRelay">) =>
  async (req: Request, res: Response): Promise<void> => {
    // The body says nothing, but a connection can be reused only after it was read.
    await readBodyBytes(req);
    const now = dependencies.clock.now();
    const kinds = await transact(dependencies.pool, async (tx) => {
      const { accountId } = await requireUnsubscribeToken(tx, { req, now });
      await lockAccount(tx, accountId);
      // The address may have changed while the lock was awaited.
      const { kinds: tokenKinds } = await requireUnsubscribeToken(tx, { req, now });
      const settings = await findNotificationSettings(tx, accountId);
      const storedKinds = settings?.disabledKinds ?? [];
      const switches = Object.fromEntries(tokenKinds.map((kind) => [kind, false]));
      const disabledKinds = applySwitches(storedKinds, switches);
      if (settings === undefined || disabledKinds.join() === storedKinds.join()) return tokenKinds;
      const { language } = settings;
      await saveDisabledKinds(tx, { accountId, disabledKinds, language });
      await insertAudit(tx, {
        at: now,
        accountId,
        actor: visitorActor(req),
        action: "account.notifications_changed",
        detail: { disabledKinds },
      });
      return tokenKinds;
    });
    dependencies.wakeRelay();
    sendUnsubscribed({ req, res }, kinds);
  };
