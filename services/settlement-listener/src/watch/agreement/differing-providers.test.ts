import { afterEach, describe, expect, test } from "@jest/globals";
import { closeAfterEach } from "@payment-links/runtime/testing/use-rig";
import { waitUntil } from "@payment-links/runtime/testing";
import { needingBtcd } from "../../testing/bitcoin/needing-btcd.ts";
import { openChain } from "../../testing/open-chain.ts";
import { type WatchRig, type WatchedChain, openWatchRig } from "../../testing/open-watch-rig.ts";
import { openWatchedBitcoin } from "../../testing/open-watched-bitcoin.ts";
import { openWatchedSolana } from "../../testing/open-watched-solana.ts";
import { owner } from "../../testing/samples.ts";
import { createHurriedClock } from "../../testing/short-rests.ts";
import { RpcError, serveJsonRpc } from "../../testing/serve-json-rpc.ts";
import { openTronChain } from "../../testing/tron/open-tron-chain.ts";

const { program, describe: describeBitcoin } = await needingBtcd();
const keep = closeAfterEach();

type Answer = () => unknown;
const otherHash = "ab".repeat(32);
const noTransaction: Answer = () => {
  throw new RpcError(-5, "No such mempool transaction. Use -txindex");
};

/** A provider with a good node behind it, which can answer some methods in a way of its own. */
const openProvider = async (nodeUrl: string) => {
  const answers = new Map<string, Answer>();
  const asked: string[] = [];
  const { password, username } = new URL(nodeUrl);
  const authorization = `Basic ${Buffer.from(`${username}:${password}`).toString("base64")}`;
  const target = nodeUrl.replace(`${username}:${password}@`, "");
  const forward = async (method: string, params: readonly unknown[]): Promise<unknown> => {
    const response = await fetch(target, {
      method: "POST",
      headers: { "content-type": "application/json", authorization },
      body: JSON.stringify({ jsonrpc: "2.0", id: 1, method, params }),
    });
    const { error, result } = (await response.json()) as {
      error?: { code: number; message: string } | null;
      result?: unknown;
    };
    if (error) throw new RpcError(error.code, error.message);
    return result;
  };
  const served = await serveJsonRpc({
    answer: (method, params) => {
      asked.push(method);
      return (answers.get(method) ?? (() => forward(method, params)))();
    },
  });
  return keep({
    ...served,
    asked,
    differ: (method: string, answer: Answer) => void answers.set(method, answer),
    agree: () => answers.clear(),
  });
};

let rig: WatchRig | undefined;
afterEach(async () => {
  await rig?.close();
  rig = undefined;
});

const openRig = async (chain: WatchedChain, urls: readonly string[]) => {
  const { clock, waitHurried } = createHurriedClock();
  const opened = await openWatchRig(chain, {}, urls, clock);
  rig = opened;
  const ignored = async (provider: string): Promise<string | undefined> => {
    const gauge = new RegExp(
      `payment_links_chain_provider_ignored\\{[^}]*provider="${provider}"[^}]*\\} (\\d)`,
    );
    return gauge.exec(await opened.metrics.metrics())?.[1];
  };
  const waitState = (state: string) =>
    waitHurried(`the chain is ${state}`, async () => (await opened.readStatus()).state === state);
  return { ...opened, ignored, waitHurried, waitState };
};

type Fault = readonly [what: string, method: string, answer: Answer, fault: string];

/** The guarantees of one family, for each way in which one of its providers can differ. */
const describeFamily = (
  family: string,
  describeIt: (title: string, body: () => void) => void,
  open: () => Promise<WatchedChain & { close(): unknown }>,
  faults: readonly Fault[],
) =>
  describeIt(family, () => {
    test.each(faults)(
      "two providers that agree start the chain; a third that %s is reported and not asked until it agrees (rule CHAIN-30)",
      async (_what, method, answer, fault) => {
        const chain = keep(await open());
        const outlier = await openProvider(chain.url);
        const others = [await openProvider(chain.url), await openProvider(chain.url)];
        outlier.differ(method, answer);
        // The preferred provider is the one that differs.
        const watched = await openRig(
          chain,
          [outlier, ...others].map(({ url }) => url),
        );
        await watched.service.start();
        await watched.waitState("watching");
        await watched.caughtUp();
        expect((await watched.readStatus()).reason).toContain(`rpc-1 is ignored: ${fault}`);
        expect(await watched.ignored("rpc-1")).toBe("1");
        expect(await watched.ignored("rpc-2")).toBe("0");
        outlier.asked.length = 0;
        await watched.waitHurried("it is checked again", () => outlier.asked.length > 3);
        const checks = new Set(outlier.asked);
        // A reader of blocks asks more than the check does.
        for (const read of ["eth_getLogs", "getSignaturesForAddress", "getblockheader"]) {
          expect(checks).not.toContain(read);
        }
        outlier.agree();
        await watched.waitHurried("it is used again", async () => {
          const { reason, state } = await watched.readStatus();
          return (
            state === "watching" && reason === null && (await watched.ignored("rpc-1")) === "0"
          );
        });
        outlier.asked.length = 0;
        await watched.waitHurried("it is asked for the chain", () => outlier.asked.length > 3);
      },
    );

    test.each(faults)(
      "one provider of two that agrees does not start the chain while the other %s, and does afterwards (rule CHAIN-30)",
      async (_what, method, answer, fault) => {
        const chain = keep(await open());
        const [agreeing, outlier] = [await openProvider(chain.url), await openProvider(chain.url)];
        outlier.differ(method, answer);
        const watched = await openRig(chain, [agreeing.url, outlier.url]);
        await watched.service.start();
        await watched.waitState("refused");
        expect(await watched.readStatus()).toMatchObject({ scannedTo: null });
        expect((await watched.readStatus()).reason).toContain(`rpc-2: ${fault}`);
        outlier.agree();
        await watched.waitState("watching");
        expect((await watched.readStatus()).reason).toBeNull();
      },
    );
  });

describeFamily("EVM", describe, () => openChain({ slotsInEpoch: 2 }), [
  ["serves another chain", "eth_chainId", () => "0x1", "the node serves chain 1"],
  ["has no contracts", "eth_getCode", () => "0x", "there is no contract at the fee proxy"],
]);

describeFamily("Tron", describe, () => openTronChain({ finalizedLag: 2 }), [
  ["serves another chain", "eth_chainId", () => "0x1", "the node serves chain 1"],
  ["has no contracts", "eth_getCode", () => "0x", "there is no contract at the fee proxy"],
]);

describeFamily("Solana", describe, openWatchedSolana, [
  [
    "serves another chain",
    "getGenesisHash",
    () => "5eykt4UsFv8P8NJdTREpY1vzqKqZKvdpKuc147dw2N9d",
    "the node serves the chain of genesis 5eykt4UsFv8P8NJdTREpY1vzqKqZKvdp",
  ],
]);

describeFamily("Bitcoin", describeBitcoin, () => openWatchedBitcoin(program), [
  [
    "serves another chain",
    "getblockhash",
    () => otherHash,
    `the node serves the chain of genesis ${otherHash.slice(0, 32)}`,
  ],
  [
    "makes its index anew",
    "getrawtransaction",
    noTransaction,
    "the node keeps no index of transactions (txindex=1)",
  ],
]);

describe("the rule for a start", () => {
  test("a provider that is away when the chain starts does not stop it, and is ignored once it answers and differs", async () => {
    const chain = keep(await openChain({ slotsInEpoch: 2 }));
    const providers = [];
    for (let i = 0; i < 3; i += 1) providers.push(await openProvider(chain.url));
    const [, , third] = providers;
    if (third === undefined) throw new Error("there are three");
    third.differ("eth_chainId", () => {
      throw new RpcError(-32_005, "limit exceeded");
    });
    const watched = await openRig(
      chain,
      providers.map(({ url }) => url),
    );
    await watched.service.start();
    await watched.waitState("watching");
    expect(await watched.ignored("rpc-3")).toBe("0");
    third.differ("eth_chainId", () => "0x1");
    await watched.waitHurried(
      "it is ignored",
      async () => (await watched.ignored("rpc-3")) === "1",
    );
    expect((await watched.readStatus()).state).toBe("watching");
  });

  test("a payment settles by the two providers that agree", async () => {
    const chain = keep(await openChain({ slotsInEpoch: 2 }));
    const outlier = await openProvider(chain.url);
    outlier.differ("eth_chainId", () => "0x1");
    const others = [await openProvider(chain.url), await openProvider(chain.url)];
    const watched = await openRig(
      chain,
      [...others, outlier].map(({ url }) => url),
    );
    await watched.service.start();
    const link = await watched.hearNew();
    await watched.waitState("watching");
    await watched.caughtUp();
    await chain.pay({ reference: link.paymentReference, to: owner, amount: 7_000_000n });
    await chain.mine(12);
    await waitUntil("it is settled", () => watched.statuses(link.id).includes("settled 7"));
  });
});
