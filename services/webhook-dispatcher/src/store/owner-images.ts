import {
  type Envelope,
  isNewerThanStored,
  setLatestPublished,
  toLatestPublished,
} from "@payment-links/bus";
import { type OwnerImages, ownerImagesSnapshot } from "@payment-links/contracts";
import { type Db, type Transaction, sqlVoid } from "@payment-links/postgres";
import { sql } from "slonik";
import * as z from "zod";

const ImagesRow = z.object({ urls: z.array(z.string()) });

/** Stores the image URLs of an account, unless the stored ones are newer (rule EVENT-7). */
export const storeOwnerImages = async (
  tx: Transaction,
  { id, version, profileImage, backgroundImage }: OwnerImages,
  envelope: Envelope,
): Promise<void> => {
  const { publishedAt, versionsRestartedAt } = toLatestPublished(envelope, ownerImagesSnapshot);
  await tx.query(sqlVoid`
    INSERT INTO owner_images AS kept
      (account_id, version, profile_image, background_image, told_at, anew_from)
    VALUES (
      ${id}, ${version}, ${profileImage}, ${backgroundImage}, ${publishedAt.toISOString()},
      ${versionsRestartedAt?.toISOString() ?? null}
    )
    ON CONFLICT (account_id) DO UPDATE
    SET version = excluded.version, profile_image = excluded.profile_image,
        background_image = excluded.background_image, ${setLatestPublished}
    WHERE ${isNewerThanStored}
  `);
};

/** Returns the image URLs of an account as last received, two at most. */
export const findImageUrls = async (db: Db, accountId: string): Promise<readonly string[]> => {
  const row = await db.maybeOne(sql.type(ImagesRow)`
    SELECT array_remove(ARRAY[profile_image, background_image], NULL) AS urls
    FROM owner_images WHERE account_id = ${accountId}
  `);
  return row?.urls ?? [];
};
