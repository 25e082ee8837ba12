import {
  type Account,
  createValidationError,
  nullable,
  createApiError,
  text,
} from "@payment-links/contracts";
import type { Db } from "@payment-links/postgres";
import { parseHandle } from "../domain/handle.ts";
import { findAccount, findAccountByHandle } from "../store/accounts.ts";

const accountNameField = text({ lengthMax: 100 });

/**
 * The fields with which an operator selects an account: a current or former handle, or the id,
 * because an account may not have a handle.
 */
export const accountSelectorFields = {
  handle: nullable(accountNameField),
  userId: nullable(accountNameField),
};

/** Returns the selected account. Throws NOT_FOUND. */
export const findSelectedAccount = async (
  db: Db,
  { handle, userId }: { handle: string | null; userId: string | null },
): Promise<Account> => {
  if (handle === null && userId === null) throw createValidationError("missing");
  const account =
    handle === null
      ? await findAccount(db, userId ?? "")
      : await findAccountByHandle(db, parseHandle(handle));
  if (account === undefined) throw createApiError("NOT_FOUND");
  return account;
};
