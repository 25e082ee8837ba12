import type { RpcRequest } from "../../../rpc/json-rpc.ts";
import { type Account, parseAccounts } from "../rpc-results.ts";
import { commitment } from "./fetch-blocks.ts";

/** Requests up to 100 accounts. Returns them in the order of the addresses. */
export const createAccountsRequest = (
  addresses: readonly string[],
): RpcRequest<readonly Account[]> => ({
  method: "getMultipleAccounts",
  params: [addresses, { commitment, encoding: "base64" }],
  parseResult: parseAccounts(addresses.length),
});
