import { randomUUID } from "node:crypto";
import { describe, expect, test } from "@jest/globals";
import { Client } from "pg";
import { createLocalBus } from "@payment-links/bus";
import {
  type Account,
  type IntrospectionAnswer,
  createCatalogue,
  hashSecret,
  newId,
  scopes,
} from "@payment-links/contracts";
import { sampleAccount } from "@payment-links/contracts/testing/sample-account";
import { createLinksApi, linksApiConfig, linksApiMigration } from "@payment-links/links-api";
import { openTestGround, serveForTest } from "@payment-links/process/testing";
import { readConfig, systemClock } from "@payment-links/runtime";
import { waitUntil } from "@payment-links/runtime/testing";
import { useRig } from "@payment-links/runtime/testing/use-rig";
import {
  createSettlementListener,
  settlementListenerConfig,
  settlementListenerMigration,
} from "@payment-links/settlement-listener";
import {
  type TokenName,
  freshAddress,
  openSolanaChain,
} from "@payment-links/settlement-listener/testing/open-solana-chain";

/*
 * A wallet scans a link's transaction request, asks for the transaction, signs it and sends it: what
 * the link shows then. Both services over a real Solana VM.
 */

const finalizedLag = 4;

const openSystem = async () => {
  const chain = await openSolanaChain({ confirmedLag: 0, finalizedLag });
  const answers = new Map<string, IntrospectionAnswer>();
  const change = {
    bus: createLocalBus({ groups: ["links-api", "settlement-listener"] }),
    catalogue: createCatalogue(chain.catalogueData),
    clock: systemClock,
    ask: async ({ kind, hash }: { kind: string; hash: string }) =>
      answers.get(`${kind} ${hash}`) ?? { found: false as const },
  };
  const settlements = await openTestGround({
    name: "settlement-listener",
    migration: settlementListenerMigration,
    change,
  });
  const database = new Client({ connectionString: settlements.ground.databaseUrl });
  await database.connect();
  const listener = createSettlementListener(
    settlements.ground,
    readConfig(settlementListenerConfig, { RPC_URLS: `local-solana=${chain.url}` }),
  );
  const links = await openTestGround({
    name: "links-api",
    migration: linksApiMigration,
    change: { ...change, askSolana: listener.askSolana },
  });
  const linksApi = createLinksApi(
    links.ground,
    readConfig(linksApiConfig, { SETTLEMENT_CHAINS: "local-solana" }),
  );
  const served = await serveForTest(linksApi, links.ground);
  await linksApi.start();
  await listener.start();

  const call = async (path: string, init: RequestInit = {}) => {
    const answer = await fetch(`${served.publicUrl}${path}`, init);
    return { status: answer.status, json: JSON.parse(await answer.text()) };
  };
  const post = (path: string, body: object, headers: Record<string, string> = {}) =>
    call(path, {
      method: "POST",
      headers: { "content-type": "application/json", ...headers },
      body: JSON.stringify(body),
    });
  const show = async (id: string) => (await call(`/checkout/payment-links/${id}`)).json;
  return {
    chain,
    show,
    untilSeen: (id: string) =>
      waitUntil("the payment is seen", async () => (await show(id)).pendingPayments.length > 0),
    /** Makes blocks until a link shows something. */
    mineUntil: (id: string, isShown: (link: Awaited<ReturnType<typeof show>>) => boolean) =>
      waitUntil("the link shows it", async () => {
        chain.mine();
        return isShown(await show(id));
      }),
    createLink: async (
      tokenName: TokenName,
      toAmount: string,
      walletAddress: string = freshAddress(),
    ) => {
      const account = ownerOf(`${tokenName}-local-solana`, walletAddress);
      const session = randomUUID();
      const credential = { id: newId("key"), bucketId: newId("key"), scopes: [...scopes] };
      const hash = hashSecret(session).toString("hex");
      answers.set(`session ${hash}`, {
        found: true,
        account,
        credential: { ...credential, expiresAt: null },
      });
      const headers = { cookie: `session-links=${session}` };
      const { json } = await post("/console/api/payment-links", { toAmount }, headers);
      const id = String(json.id);
      // The listener finds what was paid before that with the next slot only, and slots come by hand here.
      await waitUntil("the listener has received the link", async () => {
        const { rowCount } = await database.query("SELECT 1 FROM links WHERE id = $1", [id]);
        return rowCount === 1;
      });
      return { id, owner: walletAddress };
    },
    /** What a wallet does with the request's address. */
    ask: (id: string, account: string) => post(`/checkout/solana/${id}`, { account }),
    close: async () => {
      await served.close();
      await linksApi.stop();
      await listener.stop();
      await database.end();
      await Promise.all([links.close(), settlements.close(), chain.close()]);
    },
  };
};

const ownerOf = (tokenId: string, walletAddress: string): Account =>
  sampleAccount({
    wallets: [
      {
        id: newId("wallet"),
        walletAddress,
        tokenId,
        chainType: "SVM",
        isDefault: true,
        isChainDefault: true,
        provider: null,
      },
    ],
  });

describe("a link that is paid by a transaction request of Solana Pay", () => {
  const system = useRig(openSystem);
  const payerOf = (index: 0 | 1 | 2 = 0): string => system.chain.payers[index] ?? "";

  test.each([
    ["USDC, to an owner without an account", "usdc", false, "2.5", 2_500_000n],
    ["USDC, to an owner with one", "usdc", true, "2.5", 2_500_000n],
    ["a coin of 9 decimals, to its last digit", "coin9", false, "0.000000001", 1n],
    ["a token of Token-2022, to an owner without an account", "newer", false, "2.5", 2_500_000n],
  ] as const)("%s settles", async (_name, tokenName, isReady, toAmount, units) => {
    const { chain } = system;
    const link = await system.createLink(tokenName, toAmount);
    if (isReady) await chain.openUsualAccount(link.owner, tokenName);
    chain.mine(finalizedLag + 1);
    const { status, json } = await system.ask(link.id, payerOf());
    expect([status, json.errors]).toEqual([200, undefined]);
    const signed = await chain.signGiven(json.transaction);
    chain.send(signed);
    chain.mine();
    await system.untilSeen(link.id);
    // Who scans once more while it is on its way is given no second one.
    expect((await system.ask(link.id, payerOf(1))).json.errors[0].code).toBe("PAYMENT_SEEN");
    await system.mineUntil(link.id, (shown) => shown.status === "completed");
    expect((await system.show(link.id)).receivedAmount).toBe(toAmount);
    expect(chain.received(link.owner, tokenName)).toBe(units);
    const late = await system.ask(link.id, payerOf());
    expect([late.status, late.json.message]).toEqual([
      409,
      "This link has been paid. Do not pay it again.",
    ]);
  });

  test("a token that takes a fee pays what arrives, and the next request is for the rest", async () => {
    const { chain } = system;
    const link = await system.createLink("fee", "100");
    const pay = async () => {
      const { json } = await system.ask(link.id, payerOf());
      chain.send(await chain.signGiven(json.transaction));
    };
    await pay();
    await system.mineUntil(link.id, ({ receivedAmount }) => receivedAmount === "99");
    await pay();
    await system.mineUntil(link.id, ({ receivedAmount }) => receivedAmount === "99.99");
    expect((await system.show(link.id)).remainingAmount).toBe("0.01");
  });

  test("two wallets that ask at once and both pay make two payments, and no harm", async () => {
    const { chain } = system;
    const link = await system.createLink("usdc", "2");
    const [one, two] = await Promise.all([
      system.ask(link.id, payerOf(0)),
      system.ask(link.id, payerOf(1)),
    ]);
    // Both make the owner's account: whoever is second finds it there.
    chain.send(await chain.signGiven(one.json.transaction, 0));
    chain.send(await chain.signGiven(two.json.transaction, 1));
    await system.mineUntil(link.id, ({ status }) => status === "completed");
    await system.mineUntil(link.id, () => chain.received(link.owner, "usdc") === 4_000_000n);
  });

  test("an account that has nothing is told so, and one of another's key cannot sign", async () => {
    const { chain } = system;
    const link = await system.createLink("usdc", "2");
    const { json } = await system.ask(link.id, freshAddress());
    expect(json.message).toBe("Too little USDC: it is 2, and here are 0.");
    const given = await system.ask(link.id, payerOf(0));
    await expect(chain.signGiven(given.json.transaction, 1)).rejects.toThrow();
  });

  // Guards money: a link to a token account would complete, and nobody could ever spend what it received.
  test("to a token account is never given instructions, and to a vault it is (rule CHAIN-26)", async () => {
    const { chain } = system;
    const owner = freshAddress();
    await chain.openUsualAccount(owner, "usdc");
    chain.mine();
    const lost = await system.createLink("usdc", "2.5", await chain.accountOf(owner, "usdc"));
    expect(await system.show(lost.id)).toMatchObject({
      instructions: null,
      reason: "destination_not_payable",
    });
    expect((await system.ask(lost.id, payerOf())).status).toBe(404);
    const vault = await chain.openVault("squads");
    const payable = await system.createLink("usdc", "2.5", vault);
    expect(await system.show(payable.id)).toMatchObject({
      instructions: { recipient: vault },
      reason: null,
    });
    expect((await system.ask(payable.id, payerOf())).status).toBe(200);
  });

  test("while the chain's node is away no transaction is made, and nothing was paid", async () => {
    const link = await system.createLink("usdc", "2");
    const elsewhere = await system.ask("plink_01m7y4kb9sfvktcnzb0r3g9a0s", payerOf());
    expect(elsewhere.status).toBe(404);
    await system.chain.node.close();
    const { status, json } = await system.ask(link.id, payerOf());
    expect([status, json.message]).toEqual([
      503,
      "Solana cannot be reached right now. Nothing was paid; try again soon.",
    ]);
    // The destination was checked when its wallet was added: the page does not wait for the node.
    expect(await system.show((await system.createLink("usdc", "2")).id)).toMatchObject({
      instructions: { amount: "2" },
      reason: null,
    });
  });
});
