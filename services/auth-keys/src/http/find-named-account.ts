import { type Account, invalid, nullable, refuse, text } from "@payment-links/contracts";
import type { Db } from "@payment-links/postgres";
import { readHandle } from "../domain/handle.ts";
import { findAccount, findAccountByHandle } from "../store/accounts.ts";

const whom = text({ lengthMax: 100 });

/**
 * The fields by which an operator names an account: a handle (present or former), or its id, because
 * an account may have no handle.
 */
export const accountName = { handle: nullable(whom), userId: nullable(whom) };

/** Finds the account that an operator named. Throws NOT_FOUND. */
export const findNamedAccount = async (
  db: Db,
  { handle, userId }: { handle: string | null; userId: string | null },
): Promise<Account> => {
  if (handle === null && userId === null) throw invalid("missing");
  const account =
    handle === null
      ? await findAccount(db, userId ?? "")
      : await findAccountByHandle(db, readHandle(handle));
  if (account === undefined) throw refuse("NOT_FOUND");
  return account;
};
