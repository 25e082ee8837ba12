import { randomBytes } from "node:crypto";
import { describe, expect, test } from "@jest/globals";
import { toEip55 } from "@payment-links/chains";
import { newId } from "@payment-links/contracts";
import { createSampleAccount } from "@payment-links/contracts/testing/sample-account";
import {
  createAppliedPayment,
  createUnappliedPayment,
  unpaidLink,
} from "../rig/expected-payments.ts";
import { startEvm } from "../rig/local-families.ts";
import { useWatchedChain } from "./payment-rows.ts";

const baseUnitsPerToken = 1_000_000n;

/** Creates an account whose links can all use one address. */
const createAccount = () =>
  createSampleAccount({
    id: newId("user"),
    handle: `h${randomBytes(8).toString("hex")}`,
    wallets: [
      {
        id: newId("wallet"),
        walletAddress: toEip55(`0x${randomBytes(20).toString("hex")}`),
        tokenId: "usdc",
        chainType: "EVM",
        isDefault: true,
        isChainDefault: true,
        provider: null,
      },
    ],
  });

describe("a payment in a look-alike of the link's token (rule CHAIN-27)", () => {
  const rig = useWatchedChain(startEvm, { watchesTransfers: true });

  type CheckoutState = { instructions: unknown; wrongToken: Record<string, unknown> | null };
  const readCheckout = async (id: string): Promise<CheckoutState> =>
    (await (
      await fetch(`${rig.system.publicUrl}/checkout/payment-links/${id}`)
    ).json()) as CheckoutState;
  const readPageText = async (
    { pageUrl }: { pageUrl: string },
    language: string,
  ): Promise<string> => {
    const response = await fetch(pageUrl, { headers: { "accept-language": language } });
    return (await response.text()).replaceAll(/<[^>]*>|\s+/g, " ").replaceAll(/ +/g, " ");
  };

  test("through the proxy is shown to owner and payer as a wrong token and is not applied", async () => {
    const { chain, createLink, system } = rig;
    const link = await createLink();
    const hash = await chain.payOrder({
      ...link,
      amount: 25n * baseUnitsPerToken,
      token: "bridged",
    });
    await system.settleAll();
    expect(await system.readLink(link.id)).toEqual({
      ...unpaidLink,
      payments: [createUnappliedPayment("wrong_token", "25", hash)],
    });
    const { instructions, wrongToken } = await readCheckout(link.id);
    expect(instructions).not.toBeNull();
    expect(wrongToken).toEqual({ amount: "25", symbol: "USDC.e", sourceTransaction: hash });
    expect(await system.countDeposits(link.to)).toBe(0);
  });

  test("sent directly to the owner is shown to owner and payer as a wrong token", async () => {
    const { chain, createLink, system } = rig;
    const link = await createLink();
    const hash = await chain.transferToken({
      to: link.to,
      amount: 25n * baseUnitsPerToken,
      token: "bridged",
    });
    await system.settleAll();
    expect(await system.readLink(link.id)).toEqual(unpaidLink);
    expect(await system.countDeposits(link.to)).toBe(1);
    const { wrongToken } = await readCheckout(link.id);
    expect(wrongToken).toEqual({ amount: "25", symbol: "USDC.e", sourceTransaction: hash });
    expect(await readPageText(link, "en")).toContain(
      "25 USDC.e received, but this link only accepts USDC. Do not send it again",
    );
    expect(await readPageText(link, "de")).toContain(
      "25 USDC.e eingegangen, aber dieser Link nimmt nur USDC an.",
    );
  });

  test("does not prevent the right token from paying the link afterwards", async () => {
    const { chain, createLink, system } = rig;
    const link = await createLink();
    await chain.transferToken({ to: link.to, amount: 25n * baseUnitsPerToken, token: "bridged" });
    const hash = await chain.pay({ ...link, amount: 25n * baseUnitsPerToken });
    await system.settleAll();
    expect(await system.readLink(link.id)).toEqual({
      status: "completed",
      receivedAmount: "25",
      payments: [createAppliedPayment("25", hash)],
    });
    expect((await readCheckout(link.id)).wrongToken).toBeNull();
  });

  // All links of a shop can share one address. A payer must not see the money of other payers.
  test("of another amount, or older than the link, is not shown to the payer", async () => {
    const { chain, createLink, system } = rig;
    const owner = createAccount();
    const firstLink = await createLink({ owner });
    await chain.transferToken({
      to: firstLink.to,
      amount: 24n * baseUnitsPerToken,
      token: "bridged",
    });
    await system.settleAll();
    expect(await system.countDeposits(firstLink.to)).toBe(1);
    expect((await readCheckout(firstLink.id)).wrongToken).toBeNull();
    await chain.mine();
    const laterLink = await createLink({ toAmount: "24", owner });
    expect(laterLink.to).toBe(firstLink.to);
    expect((await readCheckout(laterLink.id)).wrongToken).toBeNull();
  });
});
