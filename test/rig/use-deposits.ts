import { afterEach, expect } from "@jest/globals";
import { Client } from "pg";
import { getAddress } from "viem";
import { useRig } from "@payment-links/runtime/testing/use-rig";
import { type ConsoleUser, useConsole } from "./use-console.ts";

const payoutAddress = getAddress("0xa0cf798816d4b9b9866b5330eea46a18382f251e");
const description = "<b>Order</b> \u202e7 ".repeat(5);

/** Returns the console, and test actions for owners whose addresses receive deposits. */
export const useDeposits = () => {
  const system = useConsole();
  const links = useRig(async () => {
    const database = new Client({ connectionString: system.getAdminUrl("links-api") });
    await database.connect();
    return { database, close: () => database.end() };
  });
  afterEach(() => links.database.query("DELETE FROM links_api.deposits"));

  /** Signs up a user who can be paid, with a link of 25 USDC. */
  const createShop = async (name: string, isGerman = false): Promise<ConsoleUser> => {
    const user = await system.signUp(name, {
      viewport: { width: 320, height: 640 },
      ...(isGerman ? { locale: "de-DE" } : {}),
    });
    const post = async (path: string, data: object): Promise<void> => {
      const response = await user.context.request.post(`${system.origin}/console/api/${path}`, {
        data,
        headers: { origin: system.origin },
      });
      expect([path, response.ok()]).toEqual([path, true]);
    };
    await post("wallets", { walletAddress: payoutAddress, tokenId: "usdc-base" });
    await post("payment-links", { toAmount: "25", description });
    return user;
  };

  /**
   * Inserts deposits to the newest link's owner as if the listener had published them, because
   * these services do not consume events.
   */
  const insertDeposits = async (
    amounts: readonly string[],
    /** The default is the link's token. */
    tokenAddress?: string,
  ): Promise<void> => {
    const { rows } = await links.database.query(
      "SELECT user_id, chain_id, token_address, created_at FROM links_api.links ORDER BY seq DESC LIMIT 1",
    );
    const [link] = rows;
    for (const [index, amount] of amounts.entries()) {
      await links.database.query(
        `INSERT INTO links_api.deposits (id, user_id, version, status, amount, token_address, chain_id,
           destination_address, payer, source_transaction, occurred_at, first_seen_at)
         VALUES ($1, $2, 2, 'settled', $3, $4, $5, $6, $7, $8, $9, $9)`,
        [
          `dep_${String(index).padStart(26, "0")}`,
          link.user_id,
          amount,
          tokenAddress ?? link.token_address,
          link.chain_id,
          payoutAddress,
          getAddress(`0x${"ab".repeat(20)}`),
          `0x${"cd".repeat(32)}`,
          new Date(link.created_at.getTime() + (amounts.length - index) * 60_000),
        ],
      );
    }
  };

  return {
    createShop,
    insertDeposits,
    runQuery: (text: string) => links.database.query(text),
  };
};
