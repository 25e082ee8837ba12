import { createHash } from "node:crypto";
import type { Request, Response } from "express";
import { buildPictureUrl, createApiError } from "@payment-links/contracts";
import { readBodyBytes, sendJson } from "@payment-links/http";
import type { Caller } from "@payment-links/identity";
import { type Transaction, transact } from "@payment-links/postgres";
import type { Dependencies } from "../dependencies.ts";
import { serializeAccount } from "../domain/account.ts";
import { savePicture } from "../store/profile-pictures.ts";
import { changeProfile } from "./change-profile.ts";

const faultCodes = {
  invalid: "INVALID_IMAGE",
  too_many_pixels: "IMAGE_TOO_MANY_PIXELS",
} as const;

/**
 * POST /console/api/account/picture: makes the image in the body the account's profile image (rule
 * CALLER-46). Only the bytes count, so the content type is ignored.
 */
export const uploadPicture =
  ({
    catalogue,
    checkoutUrl,
    clock,
    encodePicture,
    pictureBodies,
    pool,
    wakeRelay,
  }: Dependencies) =>
  async (req: Request, res: Response, caller: Caller) => {
    const bytes = await encodePicture(await readBodyBytes(req, pictureBodies.bytesMax));
    if (typeof bytes === "string") throw createApiError(faultCodes[bytes]);
    const digest = createHash("sha256").update(bytes).digest();
    const patch = { profileImage: buildPictureUrl(checkoutUrl, digest.toString("hex")) };
    const onImageChange = (tx: Transaction, accountId: string) =>
      savePicture(tx, { accountId, digest, bytes });
    const change = { req, caller, patch, now: clock.now(), onImageChange };
    const account = await transact(pool, (tx) => changeProfile(tx, change));
    wakeRelay();
    sendJson(res, 200, serializeAccount(account, catalogue));
  };
