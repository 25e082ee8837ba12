import type { Request, Response } from "express";
import { AccountChange } from "@payment-links/contracts";
import { sendJson, readJsonBody } from "@payment-links/http";
import type { Caller } from "@payment-links/identity";
import { transact } from "@payment-links/postgres";
import type { Dependencies } from "../dependencies.ts";
import { serializeAccount } from "../domain/account.ts";
import { parseHandle } from "../domain/handle.ts";
import { deletePicture } from "../store/profile-pictures.ts";
import { changeProfile } from "./change-profile.ts";

/** PATCH /console/api/account: changes the public profile, including the handle. */
export const changeAccount =
  ({ catalogue, clock, pool, wakeRelay }: Dependencies) =>
  async (req: Request, res: Response, caller: Caller) => {
    const { handle: handleInput, ...profile } = await readJsonBody(req, AccountChange);
    const patch =
      handleInput === undefined ? profile : { ...profile, handle: parseHandle(handleInput) };
    const change = { req, caller, patch, now: clock.now(), onImageChange: deletePicture };
    const account = await transact(pool, (tx) => changeProfile(tx, change));
    wakeRelay();
    sendJson(res, 200, serializeAccount(account, catalogue));
  };
