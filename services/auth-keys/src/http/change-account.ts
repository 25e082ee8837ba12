import type { Request, Response } from "express";
import { type Reader, body, changed, list, orNull, text, webUrl } from "@payment-links/contracts";
import { answerJson, readBody } from "@payment-links/http";
import type { Caller } from "@payment-links/identity";
import { transact } from "@payment-links/postgres";
import type { Deps } from "../deps.ts";
import { changeAccount as decideChange, showAccount } from "../domain/account.ts";
import { readHandle } from "../domain/handle.ts";
import { lockAccount, publishAccount, updateAccount } from "../store/accounts.ts";
import { insertAudit } from "../store/audit-log.ts";
import { claimHandle } from "../store/handles.ts";

const urlLengthMax = 2048;
const linksMax = 10;

const colourForm = /^#[0-9A-Fa-f]{6}$/;

const colour: Reader<string> = {
  schema: { type: "string", pattern: colourForm.source },
  read: (input) => {
    if (typeof input !== "string") return "string_type";
    return colourForm.test(input) ? { value: input.toLowerCase() } : "string_pattern_mismatch";
  },
};

const typedHandle: Reader<string> = {
  schema: { type: "string" },
  read: (input) => (typeof input === "string" ? { value: input } : "string_type"),
};

const url = webUrl({ lengthMax: urlLengthMax });

const AccountChangeBody = body({
  handle: changed(typedHandle),
  username: changed(text({ lengthMin: 1, lengthMax: 100 })),
  bio: changed(orNull(text({ lengthMax: 500 }))),
  profileImage: changed(orNull(url)),
  backgroundImage: changed(orNull(url)),
  backgroundColour: changed(orNull(colour)),
  links: changed(orNull(list(url, { itemsMax: linksMax }))),
});

/** PATCH /console/api/account: the owner changes the public profile, the handle included. */
export const changeAccount =
  (deps: Deps) => async (req: Request, res: Response, caller: Caller) => {
    const { handle: typed, ...profile } = await readBody(req, AccountChangeBody);
    const change = typed === undefined ? profile : { ...profile, handle: readHandle(typed) };
    const now = deps.clock.now();
    const account = await transact(deps.pool, async (tx) => {
      const before = await lockAccount(tx, caller.account.id);
      const { changed: after, fields } = decideChange(before, change);
      if (fields.length === 0) return before;
      if (after.handle !== null && after.handle !== before.handle) {
        await claimHandle(tx, { accountId: after.id, handle: after.handle, now });
      }
      await updateAccount(tx, after);
      await insertAudit(tx, {
        at: now,
        accountId: after.id,
        actor: { kind: "session", id: caller.credential.id },
        action: "account.changed",
        detail: { fields, handle: after.handle },
      });
      return publishAccount(tx, after.id, now);
    });
    deps.wakeRelay();
    answerJson(res, 200, showAccount(account));
  };
