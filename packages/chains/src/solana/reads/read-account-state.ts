import {
  deriveAssociatedTokenAccount,
  solanaTokenPrograms,
  getTokenProgram,
} from "../token-account.ts";
import type { FetchSolanaAccountState, SolanaAccountState } from "@payment-links/contracts";
import type { RpcRequest } from "../../rpc/json-rpc.ts";
import type { ProviderFailover } from "../../rpc/provider-failover.ts";
import { parseObject } from "../../rpc/parse-result.ts";
import { type Account, parseAccounts, parseKey } from "./rpc-results.ts";
import type { SolanaChain } from "./solana-chain.ts";
import { commitment } from "./fetch-blocks.ts";

/**
 * The maximum number of concurrent reads. Payers are not authenticated, so their requests must not
 * use up the provider quota that the watch needs.
 */
const concurrentReadsMax = 8;

const tokenPrograms: ReadonlySet<string> = new Set(Object.values(solanaTokenPrograms));

/**
 * Creates the read of the account state that is needed to build a payer's transaction. One node
 * returns the whole state.
 */
export const createReadAccountState = (
  failover: Pick<ProviderFailover, "run">,
  chain: SolanaChain,
) => {
  let activeReadCount = 0;
  const readAccountState: FetchSolanaAccountState = async ({ owner, payer, tokenAddress }) => {
    const token = chain.tokens.get(tokenAddress);
    if (token === undefined) throw new Error(`the catalogue has no token ${tokenAddress}`);
    if (activeReadCount >= concurrentReadsMax)
      throw new Error(`${concurrentReadsMax} reads are already in progress`);
    const program = getTokenProgram(token);
    const accounts = [payer, owner].map((accountOwner) =>
      deriveAssociatedTokenAccount({ owner: accountOwner, mint: tokenAddress, program }),
    );
    activeReadCount += 1;
    try {
      const [blockhash, [payerAccount = null, ownerAccount = null, ownerWallet = null]] =
        await failover.run("account state", (provider) =>
          provider.request([blockhashRequest, createAccountsRequest([...accounts, owner])]),
        );
      return {
        blockhash,
        payerAmount: readAmount(payerAccount, program),
        isOwnerReady: ownerAccount?.program === program,
        isTokenProgramAccount: tokenPrograms.has(ownerWallet?.program ?? ""),
      };
    } finally {
      activeReadCount -= 1;
    }
  };
  return readAccountState;
};

const blockhashRequest: RpcRequest<string> = {
  method: "getLatestBlockhash",
  params: [{ commitment }],
  parseResult: (result) => parseKey(parseObject(parseObject(result)["value"])["blockhash"]),
};

/** Requests up to 100 accounts. Returns them in the order of the addresses. */
export const createAccountsRequest = (
  addresses: readonly string[],
): RpcRequest<readonly Account[]> => ({
  method: "getMultipleAccounts",
  params: [addresses, { commitment, encoding: "base64" }],
  parseResult: parseAccounts(addresses.length),
});

const amountOffset = 64;
const amountBytes = 8;

/**
 * Returns the amount in a token account of either program. In the account's data, it follows the
 * mint and the owner.
 */
const readAmount = (account: Account, program: string): SolanaAccountState["payerAmount"] => {
  if (account?.program !== program || account.data.length < amountOffset + amountBytes) return "0";
  const { buffer, byteOffset, byteLength } = account.data;
  return String(new DataView(buffer, byteOffset, byteLength).getBigUint64(amountOffset, true));
};
