import { describe, expect, test } from "@jest/globals";
import * as z from "zod";
import { SolanaFacts } from "@payment-links/contracts";
import { serveForTest } from "@payment-links/process/testing";
import { useRig } from "@payment-links/runtime/testing/use-rig";
import { askRpc } from "../testing/ask-rpc.ts";
import { startWatchRig } from "../testing/open-watch-rig.ts";
import { openWatchedSolana } from "../testing/open-watched-solana.ts";
import { freshAddress } from "../testing/solana/open-solana-chain.ts";

/* What links-api asks before it makes a payer's transaction, over a real Solana VM. */

const rig = useRig(async () => {
  const chain = await openWatchedSolana();
  const watch = await startWatchRig(chain);
  const served = await serveForTest(watch.service, watch.ground);
  const close = async () => {
    await served.close();
    await watch.close();
    await chain.close();
  };
  return { ...served, chain, watch, close };
});

const ask = async (change: object = {}, tokenName: "usdc" | "newer" = "usdc") => {
  const answer = await fetch(`${rig.internalUrl}/internal/settlement/solana-facts`, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify({
      chainId: "local-solana",
      tokenAddress: rig.chain.tokens.get(tokenName)?.mint,
      payer: rig.chain.payers[0],
      owner: freshAddress(),
      ...change,
    }),
  });
  return { status: answer.status, json: JSON.parse(await answer.text()) };
};

const newestHash = async (): Promise<string> => {
  const params = [{ commitment: "confirmed" }];
  const answer = await askRpc(rig.chain.url, "getLatestBlockhash", params);
  return Answer.parse(answer).value.blockhash;
};
const Answer = z.object({ value: z.object({ blockhash: z.string() }) });

describe("POST /internal/settlement/solana-facts", () => {
  test.each(["usdc", "newer"] as const)(
    "tells a block of now, what the payer has, and whether the owner has an account: %s",
    async (name) => {
      const { chain } = rig;
      const owner = freshAddress();
      const fresh = await ask({ owner }, name);
      expect(fresh.status).toBe(200);
      const held = chain.received(chain.payers[0] ?? "", name);
      expect(SolanaFacts.parse(fresh.json)).toEqual({
        blockhash: await newestHash(),
        payerAmount: String(held),
        isOwnerReady: false,
        isTokenProgramAccount: false,
      });
      await chain.openUsualAccount(owner, name);
      chain.mine();
      const ready = await ask({ owner, payer: freshAddress() }, name);
      expect(ready.json).toMatchObject({ payerAmount: "0", isOwnerReady: true });
      expect(ready.json.blockhash).not.toBe(fresh.json.blockhash);
    },
  );

  // Money that goes to a token account of its own is lost: nobody has the key of that account's own account.
  test.each(["usdc", "newer"] as const)(
    "knows a wallet from a token account or a mint of either token program (rule CHAIN-26): %s",
    async (name) => {
      const { chain } = rig;
      const owner = freshAddress();
      await chain.openUsualAccount(owner, name);
      const second = await chain.openAccount(owner, name);
      chain.mine();
      const destinations = {
        wallet: chain.payers[0] ?? "",
        "unused address": owner,
        "vault of the system program": await chain.openVault("system"),
        "vault of another program": await chain.openVault("squads"),
        "off-curve address without an account": await chain.accountOf(freshAddress(), name),
        "usual token account": await chain.accountOf(owner, name),
        "other token account": second,
        mint: chain.tokens.get(name)?.mint ?? "",
      };
      const found: Record<string, boolean> = {};
      for (const [what, address] of Object.entries(destinations)) {
        // A question about one program's token recognizes the accounts of the other one as well.
        for (const asked of ["usdc", "newer"] as const) {
          const { json } = await ask({ owner: address, payer: address }, asked);
          found[`${what}, ${asked}`] = json.isTokenProgramAccount;
        }
      }
      const lost = Object.keys(found).filter((what) => found[what] === true);
      expect(lost).toEqual(
        ["usual token account", "other token account", "mint"].flatMap((what) => [
          `${what}, usdc`,
          `${what}, newer`,
        ]),
      );
    },
  );

  test("answers 204 for a chain that is not watched", async () => {
    const { internalUrl, chain } = rig;
    const key = freshAddress();
    const tokenAddress = chain.tokens.get("usdc")?.mint;
    const answer = await fetch(`${internalUrl}/internal/settlement/solana-facts`, {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: JSON.stringify({ chainId: "solana", tokenAddress, payer: key, owner: key }),
    });
    expect([answer.status, await answer.text()]).toEqual([204, ""]);
  });

  test.each([
    ["a token of no catalogue", { tokenAddress: freshAddress() }, 503],
    ["a key that is none", { payer: "0x12" }, 422],
    ["no owner", { owner: undefined }, 422],
  ])("%s is refused", async (_name, change, status) => {
    expect((await ask(change)).status).toBe(status);
  });
});
