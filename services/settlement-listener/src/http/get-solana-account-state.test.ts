import { describe, expect, test } from "@jest/globals";
import * as z from "zod";
import { SolanaAccountState } from "@payment-links/contracts";
import { startTestListeners } from "@payment-links/process/testing";
import { useRig } from "@payment-links/runtime/testing/use-rig";
import { callRpc } from "@payment-links/local-chains/call-rpc";
import { startWatchRig } from "../testing/create-watch-rig.ts";
import { startWatchedSolana } from "../testing/start-watched-solana.ts";
import { freshAddress } from "@payment-links/local-chains/solana/start-solana-chain";

/* What links-api requests before it builds a payer's transaction, with a real Solana VM. */

const rig = useRig(async () => {
  const chain = await startWatchedSolana();
  const watch = await startWatchRig(chain);
  const server = await startTestListeners(watch.service, watch.context);
  const close = async () => {
    await server.close();
    await watch.close();
    await chain.close();
  };
  return { ...server, chain, watch, close };
});

const requestAccountState = async (
  overrides: object = {},
  tokenName: "usdc" | "newer" = "usdc",
) => {
  const response = await fetch(`${rig.internalUrl}/internal/settlement/solana-facts`, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify({
      chainId: "local-solana",
      tokenAddress: rig.chain.tokens.get(tokenName)?.mint,
      payer: rig.chain.payers[0],
      owner: freshAddress(),
      ...overrides,
    }),
  });
  return { status: response.status, json: JSON.parse(await response.text()) };
};

const fetchLatestBlockhash = async (): Promise<string> => {
  const params = [{ commitment: "confirmed" }];
  const result = await callRpc(rig.chain.url, "getLatestBlockhash", params);
  return LatestBlockhashResult.parse(result).value.blockhash;
};
const LatestBlockhashResult = z.object({ value: z.object({ blockhash: z.string() }) });

describe("POST /internal/settlement/solana-facts", () => {
  test.each(["usdc", "newer"] as const)(
    "returns a recent blockhash, the payer's balance, and whether the owner has an account: %s",
    async (name) => {
      const { chain } = rig;
      const owner = freshAddress();
      const emptyOwner = await requestAccountState({ owner }, name);
      expect(emptyOwner.status).toBe(200);
      const payerBalance = chain.readReceived(chain.payers[0] ?? "", name);
      expect(SolanaAccountState.parse(emptyOwner.json)).toEqual({
        blockhash: await fetchLatestBlockhash(),
        payerAmount: String(payerBalance),
        isOwnerReady: false,
        isTokenProgramAccount: false,
      });
      await chain.createAssociatedAccount(owner, name);
      chain.mine();
      const readyOwner = await requestAccountState({ owner, payer: freshAddress() }, name);
      expect(readyOwner.json).toMatchObject({ payerAmount: "0", isOwnerReady: true });
      expect(readyOwner.json.blockhash).not.toBe(emptyOwner.json.blockhash);
    },
  );

  // Money sent to the associated token account of a token account is lost, because no private key
  // controls it.
  test.each(["usdc", "newer"] as const)(
    "distinguishes a wallet from a token account or a mint of either token program (rule CHAIN-26): %s",
    async (name) => {
      const { chain } = rig;
      const owner = freshAddress();
      await chain.createAssociatedAccount(owner, name);
      const secondAccount = await chain.createTokenAccount(owner, name);
      chain.mine();
      const destinations = {
        wallet: chain.payers[0] ?? "",
        "unused address": owner,
        "vault of the system program": await chain.createVault("system"),
        "vault of another program": await chain.createVault("squads"),
        "off-curve address without an account": await chain.findTokenAccount(freshAddress(), name),
        "usual token account": await chain.findTokenAccount(owner, name),
        "other token account": secondAccount,
        mint: chain.tokens.get(name)?.mint ?? "",
      };
      const isTokenAccountByCase: Record<string, boolean> = {};
      for (const [description, address] of Object.entries(destinations)) {
        // A request for a token of one program also recognizes the accounts of the other program.
        for (const requestedToken of ["usdc", "newer"] as const) {
          const { json } = await requestAccountState(
            { owner: address, payer: address },
            requestedToken,
          );
          isTokenAccountByCase[`${description}, ${requestedToken}`] = json.isTokenProgramAccount;
        }
      }
      const tokenAccountCases = Object.keys(isTokenAccountByCase).filter(
        (description) => isTokenAccountByCase[description] === true,
      );
      expect(tokenAccountCases).toEqual(
        ["usual token account", "other token account", "mint"].flatMap((description) => [
          `${description}, usdc`,
          `${description}, newer`,
        ]),
      );
    },
  );

  test("returns 204 for a chain that is not watched", async () => {
    const { internalUrl, chain } = rig;
    const key = freshAddress();
    const tokenAddress = chain.tokens.get("usdc")?.mint;
    const response = await fetch(`${internalUrl}/internal/settlement/solana-facts`, {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: JSON.stringify({ chainId: "solana", tokenAddress, payer: key, owner: key }),
    });
    expect([response.status, await response.text()]).toEqual([204, ""]);
  });

  test.each([
    ["a token that is not in the catalogue", { tokenAddress: freshAddress() }, 503],
    ["an invalid key", { payer: "0x12" }, 422],
    ["no owner", { owner: undefined }, 422],
  ])("rejects %s", async (_name, overrides, status) => {
    expect((await requestAccountState(overrides)).status).toBe(status);
  });
});
