import type { Question } from "../../../rpc/json-rpc.ts";
import { type Account, readAccounts } from "../node-answers.ts";
import { commitment } from "./ask-blocks.ts";

/** Asks for accounts in the order of their addresses, 100 at most. */
export const accountsQuestion = (addresses: readonly string[]): Question<readonly Account[]> => ({
  method: "getMultipleAccounts",
  params: [addresses, { commitment, encoding: "base64" }],
  read: readAccounts(addresses.length),
});
