import { afterEach, expect, test } from "@jest/globals";
import type { Hex } from "viem";
import { keccak256Hex } from "@payment-links/chains";
import { transact } from "@payment-links/postgres";
import { waitUntil } from "@payment-links/runtime/testing";
import { closeAfterEach, useRig } from "@payment-links/runtime/testing/use-rig";
import { recordUnconfirmed } from "../../payment-reports/record-unconfirmed.ts";
import { startEvmChain } from "@payment-links/local-chains/evm/start-evm-chain";
import { type WatchRig, startWatchRig } from "../../testing/create-watch-rig.ts";
import { sampleTransfer } from "../../testing/sample-transfer.ts";
import { owner } from "../../testing/samples.ts";
import { createAcceleratedClock } from "../../testing/short-delays.ts";
import { RpcError, serveJsonRpc } from "@payment-links/local-chains/serve-json-rpc";

/** `finalized` is eight blocks behind the head. */
const finalBlocks = 8;
const chain = useRig(() => startEvmChain({ slotsInEpoch: finalBlocks / 2 }));

/** Starts the second provider. It can reject requests for the nonce count of one account. */
const startSecondProvider = async () => {
  const control = {
    rejectedAddress: "",
    /** Each response waits for this promise. */
    responseGate: Promise.resolve(),
    requestCount: 0,
    inFlightCount: 0,
    inFlightCountMax: 0,
  };
  const server = await serveJsonRpc({
    handleCall: async (method, params) => {
      if (method !== "eth_getTransactionCount") return chain.callRpc(method, params);
      if (params[0] === control.rejectedAddress)
        throw new RpcError(-32_000, "no state of this account");
      control.requestCount += 1;
      control.inFlightCount += 1;
      control.inFlightCountMax = Math.max(control.inFlightCountMax, control.inFlightCount);
      await control.responseGate;
      control.inFlightCount -= 1;
      return chain.callRpc(method, params);
    },
  });
  return { ...server, control };
};

const { clock, waitAccelerated } = createAcceleratedClock();
const waitUntilFailed = (rig: WatchRig, linkId: string) =>
  waitAccelerated(
    "the payment fails",
    () => rig.publishedPayments(linkId).at(-1)?.status === "failed",
  );

const closeAfterTest = closeAfterEach();
let rig: WatchRig | undefined;
let secondProvider: Awaited<ReturnType<typeof startSecondProvider>> | undefined;
const startCaughtUpWatch = async () => {
  await chain.mine(finalBlocks + 1);
  secondProvider = await startSecondProvider();
  rig = await startWatchRig(
    chain,
    { finality: "finalized" },
    [chain.url, secondProvider.url],
    clock,
  );
  await rig.waitUntilScanned();
  return { rig, control: secondProvider.control };
};
afterEach(async () => {
  await rig?.close();
  await secondProvider?.close();
});

/** Pays a link in the newest block, and waits until the payment is seen with its nonce. */
const payAndWaitSeen = async (rig: WatchRig, payer: 1 | 2) => {
  const link = await rig.receiveNewLink();
  const payment = { reference: link.paymentReference, to: owner, amount: 7n, payer } as const;
  const hash = await chain.pay(payment);
  await chain.mine();
  await rig.waitForPublished(link.id, 1);
  return { linkId: link.id, replace: await createReplacer(hash) };
};

/** Returns a function that sends another transaction with the same sender and nonce. */
const createReplacer = async (hash: Hex) => {
  const { from, gasPrice = 0n, nonce } = await chain.client.getTransaction({ hash });
  const toHex = (value: bigint | number) => `0x${value.toString(16)}`;
  const replacement = { from, to: from, nonce: toHex(nonce), gasPrice: toHex(gasPrice * 3n + 1n) };
  return () => chain.callRpc("eth_sendTransaction", [replacement]);
};

test("one of two orphaned payments fails although a provider rejects the other sender's nonce count", async () => {
  const { rig, control } = await startCaughtUpWatch();
  const [withheldPayment, provenPayment] = [
    await payAndWaitSeen(rig, 1),
    await payAndWaitSeen(rig, 2),
  ];
  control.rejectedAddress = chain.payers[1].toLowerCase();
  await chain.reorg(2);
  for (const { replace } of [withheldPayment, provenPayment]) await replace();
  await chain.mine(finalBlocks + 2);
  await waitUntilFailed(rig, provenPayment.linkId);
  expect(rig.publishedPayments(withheldPayment.linkId).at(-1)?.status).toBe("processing");
  control.rejectedAddress = "";
  await chain.mine();
  await waitUntilFailed(rig, withheldPayment.linkId);
});

/**
 * Starts a node that stores only the state of its four newest blocks, so it has no state of final
 * blocks. This is also common on Base and Arbitrum.
 */
const startPrunedNode = async () => {
  const server = await serveJsonRpc({
    handleCall: async (method, params) => {
      const isPruned =
        method === "eth_getTransactionCount" &&
        Number(params[1]) < (await chain.readHeadNumber()) - retainedStateBlocks;
      if (isPruned) throw new RpcError(-32_000, "missing trie node: state is not available");
      return chain.callRpc(method, params);
    },
  });
  return closeAfterTest(server);
};
const retainedStateBlocks = 3;

test.each([1, 2])(
  "an orphaned payment fails although none of %i nodes has the state of a final block (rule CHAIN-5)",
  async (providerCount) => {
    await chain.mine(finalBlocks + 1);
    const nodes = [];
    for (let i = 0; i < providerCount; i += 1) nodes.push(await startPrunedNode());
    const urls = nodes.map(({ url }) => url);
    rig = await startWatchRig(chain, { finality: "finalized" }, urls, clock);
    await rig.waitUntilScanned();
    const watchRig = rig;
    const { linkId, replace } = await payAndWaitSeen(watchRig, 1);
    await chain.reorg(1);
    await replace();
    await chain.mine();
    await watchRig.waitUntilScanned();
    // The replacement is not final, so a reorg could still orphan it.
    expect(watchRig.publishedPayments(linkId).at(-1)?.status).toBe("processing");
    await waitAccelerated("the payment fails", async () => {
      await chain.mine();
      return watchRig.publishedPayments(linkId).at(-1)?.status === "failed";
    });
  },
);

/**
 * Records orphaned payments whose transactions are unknown to all nodes and whose nonces are
 * unused.
 */
const recordOrphaned = async (
  rig: WatchRig,
  count: number,
  getSender?: (index: number) => string,
) => {
  const link = await rig.receiveNewLink();
  const referenceHash = keccak256Hex(link.paymentReference);
  const orphanedTransfers = Array.from({ length: count }, (_, index) => {
    const transfer = sampleTransfer({ chainId: chain.chainId, referenceHash });
    const { sender } = transfer;
    const storedFields = { nonce: 7, isOrphaned: true, paymentLinkId: null };
    return { ...transfer, ...storedFields, sender: getSender?.(index) ?? sender };
  });
  await transact(rig.pool, (tx) => recordUnconfirmed(tx, orphanedTransfers, new Date()));
};

test("a payment fails behind more undecidable orphaned payments than one run resolves", async () => {
  const { rig } = await startCaughtUpWatch();
  for (let page = 0; page < 50; page += 1) await recordOrphaned(rig, 100);
  const { linkId, replace } = await payAndWaitSeen(rig, 1);
  await chain.reorg(1);
  await replace();
  await chain.mine(finalBlocks + 2);
  await waitUntilFailed(rig, linkId);
});

test("the nonce counts of senders are requested four at a time", async () => {
  const { rig, control } = await startCaughtUpWatch();
  const { promise, resolve: releaseResponses } = Promise.withResolvers<void>();
  control.responseGate = promise;
  const count = 40;
  await recordOrphaned(rig, count, (index) => `0x${(index + 1).toString(16).padStart(40, "0")}`);
  await chain.mine();
  await waitUntil("some nonces are requested", () => control.inFlightCount >= 4);
  // The maximum number of requests is in flight now. The scan must continue in the meantime.
  await chain.mine();
  await rig.waitUntilScanned();
  releaseResponses();
  await waitUntil("all nonces are requested", () => control.requestCount >= count);
  expect(control.inFlightCountMax).toBe(4);
});
