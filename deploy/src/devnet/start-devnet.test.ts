import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { afterAll, beforeAll, describe, expect, test } from "@jest/globals";
import { createPublicClient, createWalletClient, http, parseAbi } from "viem";
import { devnet } from "@payment-links/contracts";
import { type Log, createLog } from "@payment-links/runtime";
import { waitUntil } from "@payment-links/runtime/testing";
import { waitForReceipt } from "@payment-links/local-chains/evm/deploy-contracts";
import { type Devnet, startDevnet } from "./start-devnet.ts";

const payer = "0x70997970C51812dc3A010C7d01b50e0d17dc79C8";
const usdc = parseAbi([
  "function decimals() view returns (uint8)",
  "function symbol() view returns (string)",
  "function balanceOf(address) view returns (uint256)",
  "function mint(address to, uint256 value)",
]);
const token = { address: devnet.token, abi: usdc } as const;

const silent: Log = createLog({ service: "test", level: "fatal" });
let directory: string;
let nextFile = 0;
const createStateFile = () => join(directory, `chain-${(nextFile += 1)}.json`);

const createReader = ({ url }: Pick<Devnet, "url">) => createPublicClient({ transport: http(url) });

const mint = async ({ url }: Pick<Devnet, "url">, value: bigint): Promise<void> => {
  const client = createWalletClient({ account: payer, transport: http(url) });
  const mintCall = { ...token, functionName: "mint", args: [payer, value], chain: null } as const;
  const hash = await client.writeContract(mintCall);
  await waitForReceipt(createReader({ url }), hash);
};

const balanceOf = (chain: Pick<Devnet, "url">): Promise<bigint> =>
  createReader(chain).readContract({ ...token, functionName: "balanceOf", args: [payer] });

beforeAll(async () => {
  directory = await mkdtemp(join(tmpdir(), "devnet-"));
});
afterAll(() => rm(directory, { recursive: true, force: true }));

/** Waits until the chain has stopped mining: its newest four blocks are empty. */
const waitForConfirmedHead = (chain: Pick<Devnet, "url">) =>
  waitUntil("the chain is idle", async () => {
    const reader = createReader(chain);
    const head = await reader.getBlock();
    const numbers = [0n, 1n, 2n, 3n].map((distance) => head.number - distance);
    const counts = numbers.map((blockNumber) => reader.getBlockTransactionCount({ blockNumber }));
    return (await Promise.all(counts)).every((count) => count === 0) ? head : undefined;
  });

describe("the development chain", () => {
  test("finalizes a payment with exactly four more blocks", async () => {
    const chain = await startDevnet({ log: silent });
    await waitForConfirmedHead(chain);
    await mint(chain, 1n);
    const reader = createReader(chain);
    const paymentBlock = (await reader.getLogs({ fromBlock: 0n })).at(-1)?.blockNumber ?? 0n;
    const isFinal = async () =>
      (await reader.getBlock({ blockTag: "finalized" })).number >= paymentBlock;
    await waitUntil("the payment is final", isFinal);
    expect((await waitForConfirmedHead(chain)).number).toBe(paymentBlock + 4n);
    await chain.close();
  });

  test("has the proxies and a dollar token with 6 decimals at the catalogue's addresses", async () => {
    const chain = await startDevnet({ log: silent });
    const reader = createReader(chain);
    for (const address of [devnet.erc20FeeProxy, devnet.ethereumFeeProxy]) {
      expect((await reader.getCode({ address }))?.length).toBeGreaterThan(2_000);
    }
    expect(await reader.getChainId()).toBe(Number(devnet.chainId));
    expect(await reader.readContract({ ...token, functionName: "decimals" })).toBe(6);
    expect(await reader.readContract({ ...token, functionName: "symbol" })).toBe("USDC");
    await chain.close();
    await expect(reader.getChainId()).rejects.toThrow();
  });

  test("resumes with the same blocks after a close and a start", async () => {
    const stateFile = createStateFile();
    const firstChain = await startDevnet({ log: silent, stateFile });
    await mint(firstChain, 7n);
    const headBefore = await waitForConfirmedHead(firstChain);
    const receiptsBefore = await createReader(firstChain).getLogs({ fromBlock: 0n });
    await firstChain.close();

    const secondChain = await startDevnet({ log: silent, stateFile });
    expect((await createReader(secondChain).getBlock()).hash).toBe(headBefore.hash);
    expect(await createReader(secondChain).getLogs({ fromBlock: 0n })).toEqual(receiptsBefore);
    expect(await balanceOf(secondChain)).toBe(7n);
    const nowSeconds = Math.floor(Date.now() / 1000);
    await mint(secondChain, 1n);
    const { timestamp } = await createReader(secondChain).getBlock();
    expect(Math.abs(Number(timestamp) - nowSeconds)).toBeLessThan(60);
    await secondChain.close();
  });

  test("ends when its parent is killed, and preserves its state", async () => {
    const stateFile = createStateFile();
    const parent = spawn(
      process.execPath,
      ["--input-type=module", "-e", parentProgram(stateFile)],
      {
        stdio: ["ignore", "pipe", "inherit"],
      },
    );
    const url = await new Promise<string>((resolve, reject) => {
      createInterface(parent.stdout).once("line", resolve);
      parent.once("exit", () => reject(new Error("the parent ended")));
    });
    await mint({ url }, 5n);
    parent.kill("SIGKILL");
    await waitUntil("the orphan ends", () =>
      createReader({ url })
        .getChainId()
        .then(
          () => false,
          () => true,
        ),
    );
    await waitUntil("its state is written", () => isCompleteState(`${stateFile}.draft`));
    const nextChain = await startDevnet({ log: silent, stateFile });
    expect(await balanceOf(nextChain)).toBe(5n);
    await nextChain.close();
  });

  test("ignores a partially written state and loads the last complete one", async () => {
    const stateFile = createStateFile();
    const firstChain = await startDevnet({ log: silent, stateFile });
    await mint(firstChain, 3n);
    await firstChain.close();
    const completeState = await readFile(stateFile, "utf8");
    await writeFile(`${stateFile}.draft`, completeState.slice(0, completeState.length / 2));
    const secondChain = await startDevnet({ log: silent, stateFile });
    expect(await balanceOf(secondChain)).toBe(3n);
    await secondChain.close();
  });

  test("rejects a port in use and leaves nothing running", async () => {
    const otherServer = createServer().listen(0, "127.0.0.1");
    await once(otherServer, "listening");
    const address = otherServer.address();
    const port = typeof address === "object" && address !== null ? address.port : 0;
    await expect(startDevnet({ port, log: silent })).rejects.toThrow(/did not start/);
    otherServer.close();
  });
});

const isCompleteState = (file: string): Promise<boolean> =>
  readFile(file, "utf8").then(
    (text) => text.endsWith("}"),
    () => false,
  );

/**
 * A program that starts the chain like `npm start`, prints its URL, and does not exit on its own.
 */
const parentProgram = (stateFile: string): string => `
  import { startDevnet } from ${JSON.stringify(new URL("start-devnet.ts", import.meta.url).href)};
  import { createLog } from ${JSON.stringify(import.meta.resolve("@payment-links/runtime"))};
  const log = createLog({ service: "parent", level: "fatal" });
  const { url } = await startDevnet({ stateFile: ${JSON.stringify(stateFile)}, log });
  process.stdout.write(url + "\\n");
  setInterval(() => {}, 1_000_000);
`;
