import { afterEach, describe, expect, test } from "@jest/globals";
import { closeAfterEach } from "@payment-links/runtime/testing/use-rig";
import { waitUntil } from "@payment-links/runtime/testing";
import { requireBtcd } from "@payment-links/local-chains/testing/require-btcd";
import { startEvmChain } from "@payment-links/local-chains/evm/start-evm-chain";
import {
  type WatchRig,
  type WatchableChain,
  createWatchRig,
} from "../../testing/create-watch-rig.ts";
import { startWatchedBitcoin } from "../../testing/start-watched-bitcoin.ts";
import { startWatchedSolana } from "../../testing/start-watched-solana.ts";
import { owner } from "../../testing/samples.ts";
import { createAcceleratedClock } from "../../testing/short-delays.ts";
import { callRpc } from "@payment-links/local-chains/call-rpc";
import { RpcError, serveJsonRpc } from "@payment-links/local-chains/serve-json-rpc";
import { startTronChain } from "@payment-links/local-chains/tron/start-tron-chain";

const { program, describe: describeBitcoin } = await requireBtcd();
const closeAfterTest = closeAfterEach();

type CreateResult = () => unknown;
const otherHash = "ab".repeat(32);
const noTransaction: CreateResult = () => {
  throw new RpcError(-5, "No such mempool transaction. Use -txindex");
};

/**
 * Starts a provider that forwards requests to a correct node and can override the results of some
 * methods.
 */
const startProvider = async (nodeUrl: string) => {
  const overriddenResults = new Map<string, CreateResult>();
  const requestedMethods: string[] = [];
  const server = await serveJsonRpc({
    handleCall: (method, params) => {
      requestedMethods.push(method);
      return (overriddenResults.get(method) ?? (() => callRpc(nodeUrl, method, params)))();
    },
  });
  return closeAfterTest({
    ...server,
    requestedMethods,
    overrideResult: (method: string, createResult: CreateResult) =>
      void overriddenResults.set(method, createResult),
    clearOverrides: () => overriddenResults.clear(),
  });
};

let rig: WatchRig | undefined;
afterEach(async () => {
  await rig?.close();
  rig = undefined;
});

const createRig = async (chain: WatchableChain, urls: readonly string[]) => {
  const { clock, waitAccelerated } = createAcceleratedClock();
  const watchRig = await createWatchRig(chain, {}, urls, clock);
  rig = watchRig;
  const readIgnoredGauge = async (provider: string): Promise<string | undefined> => {
    const gauge = new RegExp(
      `payment_links_chain_provider_ignored\\{[^}]*provider="${provider}"[^}]*\\} (\\d)`,
    );
    return gauge.exec(await watchRig.metrics.metrics())?.[1];
  };
  const waitState = (state: string) =>
    waitAccelerated(
      `the chain is ${state}`,
      async () => (await watchRig.readStatus()).state === state,
    );
  return { ...watchRig, readIgnoredGauge, waitAccelerated, waitState };
};

type ProviderFault = readonly [what: string, method: string, answer: CreateResult, fault: string];

/**
 * Tests one chain family with one differing provider, for each way in which a provider can differ.
 */
const describeFamily = (
  family: string,
  describeSuite: (title: string, body: () => void) => void,
  startChain: () => Promise<WatchableChain & { close(): unknown }>,
  providerFaults: readonly ProviderFault[],
) =>
  describeSuite(family, () => {
    test.each(providerFaults)(
      "two providers that agree start the chain; a third that %s is reported and not asked until it agrees (rule CHAIN-30)",
      async (_what, method, createResult, fault) => {
        const chain = closeAfterTest(await startChain());
        const outlier = await startProvider(chain.url);
        const agreeingProviders = [await startProvider(chain.url), await startProvider(chain.url)];
        outlier.overrideResult(method, createResult);
        // The differing provider is the preferred one.
        const watchRig = await createRig(
          chain,
          [outlier, ...agreeingProviders].map(({ url }) => url),
        );
        await watchRig.service.start();
        await watchRig.waitState("watching");
        await watchRig.waitUntilScanned();
        expect((await watchRig.readStatus()).reason).toContain(`rpc-1 is ignored: ${fault}`);
        expect(await watchRig.readIgnoredGauge("rpc-1")).toBe("1");
        expect(await watchRig.readIgnoredGauge("rpc-2")).toBe("0");
        outlier.requestedMethods.length = 0;
        await watchRig.waitAccelerated(
          "the outlier is checked again",
          () => outlier.requestedMethods.length > 3,
        );
        const checkedMethods = new Set(outlier.requestedMethods);
        // The catalogue check does not use these methods, so the watch has not read any blocks.
        for (const readMethod of ["eth_getLogs", "getSignaturesForAddress", "getblockheader"]) {
          expect(checkedMethods).not.toContain(readMethod);
        }
        outlier.clearOverrides();
        await watchRig.waitAccelerated("the outlier is used again", async () => {
          const { reason, state } = await watchRig.readStatus();
          return (
            state === "watching" &&
            reason === null &&
            (await watchRig.readIgnoredGauge("rpc-1")) === "0"
          );
        });
        outlier.requestedMethods.length = 0;
        await watchRig.waitAccelerated(
          "the outlier gets requests for the chain",
          () => outlier.requestedMethods.length > 3,
        );
      },
    );

    test.each(providerFaults)(
      "one of two providers that agrees does not start the chain while the other %s, and does afterwards (rule CHAIN-30)",
      async (_what, method, createResult, fault) => {
        const chain = closeAfterTest(await startChain());
        const [agreeing, outlier] = [
          await startProvider(chain.url),
          await startProvider(chain.url),
        ];
        outlier.overrideResult(method, createResult);
        const watchRig = await createRig(chain, [agreeing.url, outlier.url]);
        await watchRig.service.start();
        await watchRig.waitState("refused");
        expect(await watchRig.readStatus()).toMatchObject({ scannedTo: null });
        expect((await watchRig.readStatus()).reason).toContain(`rpc-2: ${fault}`);
        outlier.clearOverrides();
        await watchRig.waitState("watching");
        expect((await watchRig.readStatus()).reason).toBeNull();
      },
    );
  });

describeFamily("EVM", describe, () => startEvmChain({ slotsInEpoch: 2 }), [
  ["serves another chain", "eth_chainId", () => "0x1", "the node serves chain 1"],
  ["has no contracts", "eth_getCode", () => "0x", "there is no contract at the fee proxy"],
]);

describeFamily("Tron", describe, () => startTronChain({ finalizedLag: 2 }), [
  ["serves another chain", "eth_chainId", () => "0x1", "the node serves chain 1"],
  ["has no contracts", "eth_getCode", () => "0x", "there is no contract at the fee proxy"],
]);

describeFamily("Solana", describe, startWatchedSolana, [
  [
    "serves another chain",
    "getGenesisHash",
    () => "5eykt4UsFv8P8NJdTREpY1vzqKqZKvdpKuc147dw2N9d",
    "the node serves a chain whose genesis hash starts with 5eykt4UsFv8P8NJdTREpY1vzqKqZKvdp",
  ],
]);

describeFamily("Bitcoin", describeBitcoin, () => startWatchedBitcoin(program), [
  [
    "serves another chain",
    "getblockhash",
    () => otherHash,
    `the node serves a chain whose genesis hash starts with ${otherHash.slice(0, 32)}`,
  ],
  [
    "is rebuilding its transaction index",
    "getrawtransaction",
    noTransaction,
    "the node has no transaction index (txindex=1)",
  ],
]);

describe("the rule for starting a chain", () => {
  test("an unreachable provider does not prevent the start, and is ignored once it answers and differs", async () => {
    const chain = closeAfterTest(await startEvmChain({ slotsInEpoch: 2 }));
    const providers = [];
    for (let i = 0; i < 3; i += 1) providers.push(await startProvider(chain.url));
    const [, , thirdProvider] = providers;
    if (thirdProvider === undefined) throw new Error("the third provider is missing");
    thirdProvider.overrideResult("eth_chainId", () => {
      throw new RpcError(-32_005, "limit exceeded");
    });
    const watchRig = await createRig(
      chain,
      providers.map(({ url }) => url),
    );
    await watchRig.service.start();
    await watchRig.waitState("watching");
    expect(await watchRig.readIgnoredGauge("rpc-3")).toBe("0");
    thirdProvider.overrideResult("eth_chainId", () => "0x1");
    await watchRig.waitAccelerated(
      "the third provider is ignored",
      async () => (await watchRig.readIgnoredGauge("rpc-3")) === "1",
    );
    expect((await watchRig.readStatus()).state).toBe("watching");
  });

  test("a payment settles with the two providers that agree", async () => {
    const chain = closeAfterTest(await startEvmChain({ slotsInEpoch: 2 }));
    const outlier = await startProvider(chain.url);
    outlier.overrideResult("eth_chainId", () => "0x1");
    const agreeingProviders = [await startProvider(chain.url), await startProvider(chain.url)];
    const watchRig = await createRig(
      chain,
      [...agreeingProviders, outlier].map(({ url }) => url),
    );
    await watchRig.service.start();
    const link = await watchRig.receiveNewLink();
    await watchRig.waitState("watching");
    await watchRig.waitUntilScanned();
    await chain.pay({ reference: link.paymentReference, to: owner, amount: 7_000_000n });
    await chain.mine(12);
    await waitUntil("the payment is settled", () =>
      watchRig.publishedStatuses(link.id).includes("settled 7"),
    );
  });
});
