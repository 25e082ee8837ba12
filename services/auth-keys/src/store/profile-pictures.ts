import * as z from "zod";
import { sql } from "slonik";
import { type Db, type Transaction, sqlVoid } from "@payment-links/postgres";

const PictureRow = z.object({ bytes: z.instanceof(Buffer) });

/** Stores an account's picture in place of its previous one. The account's row must be locked. */
export const savePicture = async (
  tx: Transaction,
  { accountId, digest, bytes }: { accountId: string; digest: Buffer; bytes: Buffer },
): Promise<void> => {
  await tx.query(sqlVoid`
    INSERT INTO profile_pictures (account_id, digest, bytes)
    VALUES (${accountId}, ${sql.binary(digest)}, ${sql.binary(bytes)})
    ON CONFLICT (account_id) DO UPDATE SET digest = excluded.digest, bytes = excluded.bytes
  `);
};

/** Deletes an account's picture, if it has one. The account's row must be locked. */
export const deletePicture = async (tx: Transaction, accountId: string): Promise<void> => {
  await tx.query(sqlVoid`DELETE FROM profile_pictures WHERE account_id = ${accountId}`);
};

/** Returns the bytes of the picture with this digest. Several accounts can have it. */
export const findPicture = async (db: Db, digest: Buffer): Promise<Buffer | undefined> => {
  const row = await db.maybeOne(sql.type(PictureRow)`
    SELECT bytes FROM profile_pictures WHERE digest = ${sql.binary(digest)} LIMIT 1
  `);
  return row?.bytes;
};
