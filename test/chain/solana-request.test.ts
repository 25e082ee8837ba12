import { describe, expect, test } from "@jest/globals";
import { waitUntil } from "@payment-links/runtime/testing";
import { useRig } from "@payment-links/runtime/testing/use-rig";
import {
  type TokenName,
  freshAddress,
} from "@payment-links/local-chains/solana/start-solana-chain";
import { startSolana } from "../rig/local-families.ts";
import { createPaymentSystem } from "../rig/payment-system.ts";

/*
 * A wallet scans a link's transaction request, requests the transaction, signs it and sends it. The
 * tests then check what the link shows. Both services run on a real Solana VM.
 */

const createSystem = async () => {
  const family = await startSolana();
  const { solana: chain, finalizedLag, settings } = family;
  const system = await createPaymentSystem({ chain: family, settings, finalizedLag });
  await system.startWatcher();
  const call = async (path: string, init: RequestInit = {}) => {
    const response = await fetch(`${system.publicUrl}${path}`, init);
    return { status: response.status, json: JSON.parse(await response.text()) };
  };
  const readCheckout = async (id: string) => (await call(`/checkout/payment-links/${id}`)).json;
  return {
    chain,
    finalizedLag,
    readCheckout,
    waitUntilSeen: (id: string) =>
      waitUntil(
        "the payment is observed",
        async () => (await readCheckout(id)).pendingPayments.length > 0,
      ),
    /** Mines blocks until the link satisfies the predicate. */
    mineUntilShown: (
      id: string,
      predicate: (link: Awaited<ReturnType<typeof readCheckout>>) => boolean,
    ) =>
      waitUntil("the link shows the payment", async () => {
        chain.mine();
        return predicate(await readCheckout(id));
      }),
    createLink: async (tokenName: TokenName, toAmount: string, owner: string = freshAddress()) => {
      const tokenId = `${tokenName}-local-solana`;
      const { id } = await system.createLink({ tokenId, toAmount, walletAddress: owner });
      // If the payment came first, the listener would find it only at the next slot, and this test
      // creates slots manually.
      await system.waitForLinkReceived(id);
      return { id, owner };
    },
    /** Requests the transaction from the link's URL, as a wallet does. */
    requestTransaction: (id: string, account: string) =>
      call(`/checkout/solana/${id}`, {
        method: "POST",
        headers: { "content-type": "application/json" },
        body: JSON.stringify({ account }),
      }),
    close: async () => {
      await system.close();
      await family.close();
    },
  };
};

describe("a link that is paid by a Solana Pay transaction request", () => {
  const system = useRig(createSystem);
  const getPayer = (index: 0 | 1 | 2 = 0): string => system.chain.payers[index] ?? "";

  test.each([
    ["a USDC payment to an owner without a token account", "usdc", false, "2.5", 2_500_000n],
    ["a USDC payment to an owner with a token account", "usdc", true, "2.5", 2_500_000n],
    [
      "a payment in the coin with 9 decimals, exact to the last digit,",
      "coin9",
      false,
      "0.000000001",
      1n,
    ],
    ["a Token-2022 payment to an owner without a token account", "newer", false, "2.5", 2_500_000n],
  ] as const)("%s settles", async (_name, tokenName, isReady, toAmount, baseUnits) => {
    const { chain, finalizedLag } = system;
    const link = await system.createLink(tokenName, toAmount);
    if (isReady) await chain.createAssociatedAccount(link.owner, tokenName);
    chain.mine(finalizedLag + 1);
    const { status, json } = await system.requestTransaction(link.id, getPayer());
    expect([status, json.errors]).toEqual([200, undefined]);
    const signedTransaction = await chain.signEncoded(json.transaction);
    chain.send(signedTransaction);
    chain.mine();
    await system.waitUntilSeen(link.id);
    // A payer who scans again while the payment is in progress does not get a second transaction.
    expect((await system.requestTransaction(link.id, getPayer(1))).json.errors[0].code).toBe(
      "PAYMENT_SEEN",
    );
    await system.mineUntilShown(link.id, (checkout) => checkout.status === "completed");
    expect((await system.readCheckout(link.id)).receivedAmount).toBe(toAmount);
    expect(chain.readReceived(link.owner, tokenName)).toBe(baseUnits);
    const lateResponse = await system.requestTransaction(link.id, getPayer());
    expect([lateResponse.status, lateResponse.json.message]).toEqual([
      409,
      "This link is already paid. Do not pay again.",
    ]);
  });

  test("in a token that charges a fee is credited with the received amount, and the next request is for the rest", async () => {
    const { chain } = system;
    const link = await system.createLink("fee", "100");
    const payOnce = async () => {
      const { json } = await system.requestTransaction(link.id, getPayer());
      chain.send(await chain.signEncoded(json.transaction));
    };
    await payOnce();
    await system.mineUntilShown(link.id, ({ receivedAmount }) => receivedAmount === "99");
    await payOnce();
    await system.mineUntilShown(link.id, ({ receivedAmount }) => receivedAmount === "99.99");
    expect((await system.readCheckout(link.id)).remainingAmount).toBe("0.01");
  });

  test("accepts two payments by two wallets that request the transaction at the same time", async () => {
    const { chain } = system;
    const link = await system.createLink("usdc", "2");
    const [firstResponse, secondResponse] = await Promise.all([
      system.requestTransaction(link.id, getPayer(0)),
      system.requestTransaction(link.id, getPayer(1)),
    ]);
    // Both transactions create the owner's token account. The second one finds it already created.
    chain.send(await chain.signEncoded(firstResponse.json.transaction, 0));
    chain.send(await chain.signEncoded(secondResponse.json.transaction, 1));
    await system.mineUntilShown(link.id, ({ status }) => status === "completed");
    await system.mineUntilShown(
      link.id,
      () => chain.readReceived(link.owner, "usdc") === 4_000_000n,
    );
  });

  test("informs a payer about an empty account, and rejects a signature of another key", async () => {
    const { chain } = system;
    const link = await system.createLink("usdc", "2");
    const { json } = await system.requestTransaction(link.id, freshAddress());
    expect(json.message).toBe("Not enough USDC: you need 2 but have 0.");
    const requestResponse = await system.requestTransaction(link.id, getPayer(0));
    await expect(chain.signEncoded(requestResponse.json.transaction, 1)).rejects.toThrow();
  });

  // Prevents a loss of money: a link to a token account would complete, but the payment could never
  // be spent.
  test("to a token account never has instructions, while a link to a vault has them (rule CHAIN-26)", async () => {
    const { chain } = system;
    const owner = freshAddress();
    await chain.createAssociatedAccount(owner, "usdc");
    chain.mine();
    const unpayableLink = await system.createLink(
      "usdc",
      "2.5",
      await chain.findTokenAccount(owner, "usdc"),
    );
    expect(await system.readCheckout(unpayableLink.id)).toMatchObject({
      instructions: null,
      reason: "destination_not_payable",
    });
    expect((await system.requestTransaction(unpayableLink.id, getPayer())).status).toBe(404);
    const vault = await chain.createVault("squads");
    const payable = await system.createLink("usdc", "2.5", vault);
    expect(await system.readCheckout(payable.id)).toMatchObject({
      instructions: { recipient: vault },
      reason: null,
    });
    expect((await system.requestTransaction(payable.id, getPayer())).status).toBe(200);
  });

  test("offers no transaction while the chain's node is unavailable", async () => {
    const link = await system.createLink("usdc", "2");
    const unknownLinkResponse = await system.requestTransaction(
      "plink_01m7y4kb9sfvktcnzb0r3g9a0s",
      getPayer(),
    );
    expect(unknownLinkResponse.status).toBe(404);
    await system.chain.node.close();
    const { status, json } = await system.requestTransaction(link.id, getPayer());
    expect([status, json.message]).toEqual([
      503,
      "Solana can't be reached right now. Nothing was paid. Try again soon.",
    ]);
    // The destination was checked when the wallet was added, so the page does not wait for the
    // node.
    expect(await system.readCheckout((await system.createLink("usdc", "2")).id)).toMatchObject({
      instructions: { amount: "2" },
      reason: null,
    });
  });
});
