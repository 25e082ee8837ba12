import { describe, expect, test } from "@jest/globals";
import { requireBtcd } from "@payment-links/local-chains/testing/require-btcd";
import {
  type LocalEvm,
  type LocalFamily,
  type SuffixChain,
  type TokenFamily,
  startBitcoin,
  startEvm,
  startSolana,
  startSuffixChain,
  startTron,
} from "../rig/local-families.ts";
import {
  createAppliedPayment,
  createProcessingPayment,
  createUnappliedPayment,
  unpaidLink,
} from "../rig/expected-payments.ts";
import { type PaymentRow, testPaymentRows, useWatchedChain } from "./payment-rows.ts";

const bitcoin = await requireBtcd();

/** The cases that apply to every chain family. */
const paymentRows: readonly PaymentRow<LocalFamily>[] = [
  [
    "of the exact amount",
    async ({ chain, formatAmount, system, link, toBaseUnits }) => {
      const requestedAmount = formatAmount(toBaseUnits(25n));
      const hash = await chain.pay({ ...link, amount: toBaseUnits(25n) });
      await chain.mine(1);
      const updatedLink = await system.waitForLink(link.id, ({ payments }) => payments.length > 0);
      expect(updatedLink).toEqual({
        ...unpaidLink,
        payments: [createProcessingPayment(requestedAmount, hash)],
      });
      return {
        status: "completed",
        receivedAmount: requestedAmount,
        payments: [createAppliedPayment(requestedAmount, hash)],
      };
    },
  ],
  [
    "in two parts",
    async ({ chain, formatAmount, system, link, toBaseUnits }) => {
      const [partAmount, remainderAmount] = [
        formatAmount(toBaseUnits(10n)),
        formatAmount(toBaseUnits(15n)),
      ];
      const firstHash = await chain.pay({ ...link, amount: toBaseUnits(10n) });
      await system.settleAll();
      expect(await system.readLink(link.id)).toEqual({
        status: "active",
        receivedAmount: partAmount,
        payments: [createAppliedPayment(partAmount, firstHash)],
      });
      const remainderHash = await chain.pay({ ...link, amount: toBaseUnits(15n), payer: 1 });
      const payments = [
        createAppliedPayment(partAmount, firstHash),
        createAppliedPayment(remainderAmount, remainderHash),
      ];
      return { status: "completed", receivedAmount: formatAmount(toBaseUnits(25n)), payments };
    },
  ],
  [
    "of too much",
    async ({ chain, formatAmount, link, toBaseUnits }) => {
      const amount = toBaseUnits(30n) + 1n;
      const hash = await chain.pay({ ...link, amount });
      const payments = [createAppliedPayment(formatAmount(amount), hash)];
      return { status: "completed", receivedAmount: formatAmount(amount), payments };
    },
  ],
  [
    "twice",
    async ({ chain, formatAmount, system, link, toBaseUnits }) => {
      const requestedAmount = formatAmount(toBaseUnits(25n));
      const firstHash = await chain.pay({ ...link, amount: toBaseUnits(25n) });
      await system.settleAll();
      const secondHash = await chain.pay({ ...link, amount: toBaseUnits(25n), payer: 1 });
      const payments = [
        createAppliedPayment(requestedAmount, firstHash),
        createUnappliedPayment("completed", requestedAmount, secondHash),
      ];
      return { status: "completed", receivedAmount: requestedAmount, payments };
    },
  ],
  [
    "twice in one transaction, together with a payment of another link",
    async ({ chain, formatAmount, system, link, otherLink, toBaseUnits }) => {
      const hash = await chain.payInOneTransaction([
        { ...link, amount: toBaseUnits(10n) },
        { ...otherLink, amount: toBaseUnits(3n) },
        { ...link, amount: toBaseUnits(10n) },
      ]);
      await system.settleAll();
      const [partAmount, otherLinkAmount] = [
        formatAmount(toBaseUnits(10n)),
        formatAmount(toBaseUnits(3n)),
      ];
      expect(await system.readLink(otherLink.id)).toEqual({
        status: "active",
        receivedAmount: otherLinkAmount,
        payments: [createAppliedPayment(otherLinkAmount, hash)],
      });
      const payments = [
        createAppliedPayment(partAmount, hash),
        createAppliedPayment(partAmount, hash),
      ];
      return { status: "active", receivedAmount: formatAmount(toBaseUnits(20n)), payments };
    },
  ],
];

/**
 * The cases of chains on which a payment names its link and its token. On Bitcoin, the paid address
 * does. Its mempool, reorgs and expiry have their own tests in settlement-listener.
 */
const tokenRows: readonly PaymentRow<TokenFamily>[] = [
  [
    "in the wrong token",
    async ({ chain, link, toBaseUnits }) => {
      const hash = await chain.pay({ ...link, amount: toBaseUnits(25n), token: "wrong" });
      return { ...unpaidLink, payments: [createUnappliedPayment("wrong_token", "25", hash)] };
    },
  ],
  [
    "in a token outside the catalogue",
    async ({ chain, link, toBaseUnits }) => {
      await chain.pay({ ...link, amount: toBaseUnits(25n), token: "unknown" });
      return unpaidLink;
    },
  ],
  [
    "in a token that charges a fee",
    async ({ chain, createLink, toBaseUnits }) => {
      const link = await createLink({ toAmount: "100", tokenId: chain.feeTokenId });
      const hash = await chain.pay({ ...link, amount: toBaseUnits(100n), token: "fee" });
      const payments = [createAppliedPayment("99", hash)];
      return { of: link, status: "active", receivedAmount: "99", payments };
    },
  ],
  [
    "to another owner's address",
    async ({ chain, link, otherLink, system, toBaseUnits }) => {
      const hash = await chain.pay({ ...link, to: otherLink.to, amount: toBaseUnits(25n) });
      await system.settleAll();
      expect(await system.readLink(otherLink.id)).toEqual(unpaidLink);
      return { ...unpaidLink, payments: [createUnappliedPayment("wrong_destination", "25", hash)] };
    },
  ],
  [
    "that only an event claims, without a transfer",
    async ({ chain, link, toBaseUnits }) => {
      await chain.payForged({ ...link, amount: toBaseUnits(25n) });
      return unpaidLink;
    },
  ],
  [
    "with the reference of no link",
    async ({ chain, link, toBaseUnits }) => {
      await chain.pay({ ...link, reference: "f".repeat(32), amount: toBaseUnits(25n) });
      return unpaidLink;
    },
  ],
  [
    "by a failed transaction",
    async ({ chain, link, toBaseUnits }) => {
      await chain.payFailing({ ...link, amount: toBaseUnits(25n) });
      return unpaidLink;
    },
  ],
  [
    "in an orphaned block, and again in a later block",
    async ({ chain, system, link, toBaseUnits }) => {
      const resendable = await chain.payResendable({ ...link, amount: toBaseUnits(10n) });
      await chain.mine(1);
      await system.waitForLink(link.id, ({ payments }) => payments[0]?.status === "processing");
      await chain.orphanNewestBlock();
      await system.settleAll();
      const droppedView = {
        ...unpaidLink,
        payments: [createProcessingPayment("10", resendable.hash)],
      };
      expect(await system.readLink(link.id)).toEqual(droppedView);
      await resendable.resend();
      const payments = [createAppliedPayment("10", resendable.hash)];
      return { status: "active", receivedAmount: "10", payments };
    },
  ],
  // These cases come last, because they advance the chain's time permanently.
  [
    "seen before the link's expiry, in a block with a later time (rule STATE-15)",
    async ({ chain, createLink, toBaseUnits }) => {
      const expiresAt = Math.floor(Date.now() / 1000) + 1_800;
      const link = await createLink({ expirationDate: new Date(expiresAt * 1000).toISOString() });
      const hash = await chain.pay({ ...link, amount: toBaseUnits(25n) });
      await chain.setNextBlockTime(expiresAt);
      const payments = [createAppliedPayment("25", hash)];
      return { of: link, status: "completed", receivedAmount: "25", payments };
    },
  ],
  [
    "late by the time of its block and when it was seen, and in time by a block one second before",
    async ({ chain, createLink, system, toBaseUnits }) => {
      const expiresAt = Math.floor(Date.now() / 1000) + 3_600;
      const expirationDate = new Date(expiresAt * 1000).toISOString();
      const timelyLink = await createLink({ expirationDate });
      const link = await createLink({ expirationDate });
      system.advanceClock(3_601_000);
      const timelyHash = await chain.pay({ ...timelyLink, amount: toBaseUnits(25n) });
      await chain.setNextBlockTime(expiresAt - 1);
      await chain.mine(1);
      const hash = await chain.pay({ ...link, amount: toBaseUnits(25n) });
      await chain.setNextBlockTime(expiresAt);
      await system.settleAll();
      expect(await system.readLink(timelyLink.id)).toMatchObject({
        status: "completed",
        payments: [createAppliedPayment("25", timelyHash)],
      });
      const payments = [createUnappliedPayment("expired", "25", hash)];
      return { ...unpaidLink, of: link, status: "inactive", payments };
    },
  ],
];

/** The cases of tokens that only an EVM chain has, and of amounts that depend on decimals. */
const evmRows: readonly PaymentRow<LocalEvm>[] = [
  [
    "to an address that no owner has",
    async ({ chain, link, toBaseUnits }) => {
      const to = "0x2222222222222222222222222222222222222222";
      const hash = await chain.pay({ ...link, to, amount: toBaseUnits(25n) });
      return { ...unpaidLink, payments: [createUnappliedPayment("wrong_destination", "25", hash)] };
    },
  ],
  [
    "twice in one transaction, each with its own amount",
    async ({ chain, link, toBaseUnits }) => {
      const hash = await chain.payInOneTransaction([
        { ...link, amount: toBaseUnits(10n) },
        { ...link, amount: toBaseUnits(7n) },
      ]);
      const payments = [createAppliedPayment("10", hash), createAppliedPayment("7", hash)];
      return { status: "active", receivedAmount: "17", payments };
    },
  ],
  [
    "of 0, and then of one base unit to a single-use link",
    async ({ chain, createLink, system }) => {
      const link = await createLink({ maxUsage: 1 });
      await chain.pay({ ...link, amount: 0n });
      await system.settleAll();
      expect(await system.readLink(link.id)).toEqual(unpaidLink);
      const hash = await chain.pay({ ...link, amount: 1n });
      const payments = [createAppliedPayment("0.000001", hash)];
      return { of: link, status: "completed", receivedAmount: "0.000001", payments };
    },
  ],
  [
    "in a token whose transfer moves nothing",
    async ({ chain, createLink, toBaseUnits }) => {
      const link = await createLink({ tokenId: "idle" });
      await chain.payOrder({ ...link, amount: toBaseUnits(25n), token: "idle" });
      return { ...unpaidLink, of: link };
    },
  ],
  [
    "in a token whose transfer returns no value",
    async ({ chain, createLink, toBaseUnits }) => {
      const link = await createLink({ tokenId: "silent" });
      const hash = await chain.payOrder({ ...link, amount: toBaseUnits(25n), token: "silent" });
      const payments = [createAppliedPayment("25", hash)];
      return { of: link, status: "completed", receivedAmount: "25", payments };
    },
  ],
  [
    "in a token of 18 decimals, exact to the last digit",
    async ({ chain, createLink, system }) => {
      const link = await createLink({ toAmount: "100", tokenId: "coin18" });
      const payInCoin18 = (amount: bigint) => chain.payOrder({ ...link, amount, token: "coin18" });
      const hash = await payInCoin18(100n * 10n ** 18n - 1n);
      await system.settleAll();
      const receivedAmount = "99.999999999999999999";
      const payments = [createAppliedPayment(receivedAmount, hash)];
      expect(await system.readLink(link.id)).toEqual({
        status: "active",
        receivedAmount,
        payments,
      });
      payments.push(createAppliedPayment("0.000000000000000001", await payInCoin18(1n)));
      return { of: link, status: "completed", receivedAmount: "100", payments };
    },
  ],
  [
    "in the chain's native coin, which the proxy's event proves",
    async ({ chain, createLink }) => {
      const link = await createLink({ toAmount: "2", tokenId: "coin" });
      const hash = await chain.payCoin({ ...link, amount: 2n * 10n ** 18n });
      const payments = [createAppliedPayment("2", hash)];
      return { of: link, status: "completed", receivedAmount: "2", payments };
    },
  ],
];

/** An attribution suffix of schema 0 with one code, "wallet". */
const attribution = `77616c6c65740600${"8021".repeat(8)}`;

/** The cases of a transfer that names its link by a suffix. */
const suffixRows: readonly PaymentRow<SuffixChain>[] = [
  [
    "followed by two attributions, as a wallet and an app append them with ERC-8021",
    async ({ chain, link, toBaseUnits }) => {
      const hash = await chain.payBySuffix(
        { ...link, amount: toBaseUnits(25n) },
        (data) => `${data}${attribution}${attribution}`,
      );
      const payments = [createAppliedPayment("25", hash)];
      return { status: "completed", receivedAmount: "25", payments };
    },
  ],
  [
    "and a payment through the proxy",
    async ({ chain, link, toBaseUnits }) => {
      const suffixHash = await chain.pay({ ...link, amount: toBaseUnits(10n) });
      const proxyHash = await chain.payOrder({ ...link, amount: toBaseUnits(15n), payer: 1 });
      const payments = [
        createAppliedPayment("10", suffixHash),
        createAppliedPayment("15", proxyHash),
      ];
      return { status: "completed", receivedAmount: "25", payments };
    },
  ],
  [
    "of 0, or to an unknown address",
    async ({ chain, link, toBaseUnits }) => {
      const to = "0x2222222222222222222222222222222222222222";
      await chain.pay({ ...link, amount: 0n });
      await chain.pay({ ...link, to, amount: toBaseUnits(25n), payer: 1 });
      return unpaidLink;
    },
  ],
  [
    "before its link is received, to an address of another link",
    async ({ chain, link: ownerLink, system, toBaseUnits }) => {
      system.holdLinkEvents(true);
      try {
        const link = await system.createLink({ toAmount: "25" });
        const hash = await chain.pay({ ...link, to: ownerLink.to, amount: toBaseUnits(25n) });
        await chain.mine(1 + chain.finalizedLag);
        await system.waitUntilScanned();
        system.holdLinkEvents(false);
        await system.waitForLink(link.id, ({ payments }) => payments[0]?.status === "settled");
        const payments = [createUnappliedPayment("wrong_destination", "25", hash)];
        return { ...unpaidLink, of: link, payments };
      } finally {
        system.holdLinkEvents(false);
      }
    },
  ],
  [
    "that another transaction with its nonce replaces in a final block",
    async ({ chain, link, system, toBaseUnits }) => {
      const hash = await chain.pay({ ...link, amount: toBaseUnits(10n) });
      await chain.mine();
      await system.waitForLink(link.id, ({ payments }) => payments[0]?.status === "processing");
      await chain.orphanNewestBlock();
      await chain.transferToken({ to: "0x2222222222222222222222222222222222222222", amount: 1n });
      await chain.mine(12);
      await system.waitForLink(link.id, ({ payments }) => payments[0]?.status === "failed");
      const payments = [{ ...createProcessingPayment("10", hash), status: "failed" }];
      return { ...unpaidLink, payments };
    },
  ],
  [
    "that becomes final while no watcher runs",
    async ({ chain, link, system, toBaseUnits }) => {
      const hash = await chain.pay({ ...link, amount: toBaseUnits(25n) });
      await chain.mine();
      await system.waitForLink(link.id, ({ payments }) => payments[0]?.status === "processing");
      await system.stopWatchers();
      await chain.mine(chain.finalizedLag);
      await system.startWatcher();
      const payments = [createAppliedPayment("25", hash)];
      return { status: "completed", receivedAmount: "25", payments };
    },
  ],
];

/** These cases need a contract between payer and token, which hides the suffix. */
const notOnSuffix = new Set([
  "twice in one transaction, together with a payment of another link",
  "that only an event claims, without a transfer",
]);

/** Transfers that do not name their link. Each makes two transfers of 12 tokens. */
const unnamedTransfers: [
  string,
  (chain: SuffixChain, payment: { reference: string; to: string; amount: bigint }) => Promise<void>,
][] = [
  [
    "through a contract wallet, twice in one transaction",
    async (chain, payment) => void (await chain.payBySuffixInOneTransaction([payment, payment])),
  ],
  [
    "with extra bytes after the reference, twice",
    async (chain, payment) => {
      for (const payer of [0, 1] as const)
        await chain.payBySuffix({ ...payment, payer }, (data) => `${data}00`);
    },
  ],
  [
    "with half a reference, twice",
    async (chain, payment) => {
      for (const payer of [0, 1] as const)
        await chain.payBySuffix({ ...payment, payer }, (data) => `0x${data.slice(2, -16)}`);
    },
  ],
];

const title = (name: string): string => `what a link shows after a payment on a local ${name}:`;

describe(`${title("EVM")} (rule STATE-11)`, () => {
  testPaymentRows(useWatchedChain(startEvm), [...paymentRows, ...evmRows, ...tokenRows]);
});
for (const [name, startChain] of [
  ["Tron", startTron],
  ["Solana", startSolana],
] as const) {
  describe(title(name), () => {
    testPaymentRows(useWatchedChain(startChain), [...paymentRows, ...tokenRows]);
  });
}
bitcoin.describe(title("Bitcoin"), () => {
  const rig = useWatchedChain(() => startBitcoin(bitcoin.program));
  testPaymentRows(rig, paymentRows);
});
describe("what a link shows after a transfer with a suffix (rule CHAIN-25):", () => {
  const rig = useWatchedChain(startSuffixChain, { watchesTransfers: true });

  test.each(unnamedTransfers)(
    "%s, is not a payment but two deposits that the owner assigns",
    async (_case, transfer) => {
      const link = await rig.createLink();
      await transfer(rig.chain, { ...link, amount: 12_000_000n });
      await rig.system.settleAll();
      expect(await rig.system.readLink(link.id)).toEqual(unpaidLink);
      expect(await rig.system.countDeposits(link.to)).toBe(2);
    },
  );

  const sharedRows = [...paymentRows, ...tokenRows].filter(([name]) => !notOnSuffix.has(name));
  testPaymentRows(rig, [...suffixRows, ...sharedRows]);
});
