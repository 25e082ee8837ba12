import { chmod, mkdtemp, rm } from "node:fs/promises";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "@jest/globals";
import { devnet } from "@payment-links/contracts";
import { type Child, startChild, waitReady } from "./rig/child.ts";
import { type Merchant, call, openMerchant } from "./rig/client.ts";
import { findFreePorts } from "./rig/free-port.ts";
import { waitUntil } from "@payment-links/runtime/testing";

const readyMsMax = 60_000;
const settledMsMax = 30_000;

let dataDir: string;
let ports: { port: number; internalPort: number; devnetPort: number };
let children: Child[];
let baseUrl: string;
let internalUrl: string;

beforeEach(async () => {
  dataDir = await mkdtemp(join(tmpdir(), "payment-links-"));
  // If root starts it, Postgres runs as another user, who must be able to enter.
  await chmod(dataDir, 0o755);
  const [port = 0, internalPort = 0, devnetPort = 0] = await findFreePorts(3);
  ports = { port, internalPort, devnetPort };
  baseUrl = `http://127.0.0.1:${port}`;
  internalUrl = `http://127.0.0.1:${internalPort}`;
  children = [];
});

afterEach(async () => {
  await Promise.all(children.map((child) => child.end("SIGTERM")));
  await rm(dataDir, { recursive: true, force: true });
});

const start = async (...args: string[]): Promise<Child> => {
  const env = {
    DATA_DIR: dataDir,
    PORT: String(ports.port),
    INTERNAL_PORT: String(ports.internalPort),
    DEVNET_PORT: String(ports.devnetPort),
    // The test asks for a link's state more often than a person would.
    RATE_LIMIT_PER_IP: "10000:10000",
    LOG_LEVEL: "warn",
  };
  const child = startChild("deploy/src/main.ts", env, args);
  children.push(child);
  await waitReady(child, ports.internalPort);
  await waitUntil("its word", () => child.output().includes("Payment Links is ready"), readyMsMax);
  return child;
};

/** Runs the operator's command line; answers its exit code and all its output. */
const admin = async (...args: string[]) => {
  const child = startChild(
    "deploy/src/admin.ts",
    { SETTLEMENT_LISTENER_INTERNAL_URL: internalUrl },
    args,
  );
  await waitUntil("its end", () => !child.isRunning(), settledMsMax);
  return { code: await child.end("SIGTERM"), output: child.output() };
};

/** An account whose links are paid on the development chain. */
const openShop = async (): Promise<Merchant> => {
  const merchant = await openMerchant({ baseUrl, internalUrl }, "alice");
  await addDevnetWallet(merchant);
  return merchant;
};

const addDevnetWallet = async ({ cookie }: Merchant): Promise<void> => {
  const added = await call(`${baseUrl}/console/api/wallets`, {
    method: "POST",
    headers: { cookie },
    body: { walletAddress: shopAddress, tokenId: devnet.tokenId, isDefault: true },
  });
  expect([added.status, added.body["isDefault"]]).toEqual([201, true]);
};

/** An address of nobody's: what is paid here is worth nothing. */
const shopAddress = "0x8617E340B3D01FA5F11F306F4090FD50E238070D";

const createLink = async ({ apiKey }: Merchant, order: object): Promise<string> => {
  const headers = { "x-api-key": apiKey };
  const created = await call(`${baseUrl}/v1/payment-link`, {
    method: "POST",
    headers,
    body: order,
  });
  expect(created.status).toBe(200);
  return String(created.body["id"]);
};

const retrieve = async (linkId: string) =>
  (await call(`${baseUrl}/v1/payment-link/${linkId}`)).body;

const checkout = async (linkId: string) =>
  (await call(`${baseUrl}/checkout/payment-links/${linkId}`)).body;

const waitReceived = async (linkId: string, amount: string): Promise<void> => {
  try {
    await waitUntil(
      `${amount} received`,
      async () => (await retrieve(linkId))["receivedAmount"] === amount,
      settledMsMax,
    );
  } catch (cause) {
    throw new Error(`the start said:\n${children.at(-1)?.output().slice(-4000)}`, { cause });
  }
};

const askNode = async (method: string, ...params: unknown[]) => {
  const body = { jsonrpc: "2.0", id: 1, method, params };
  const answer = await call(`http://127.0.0.1:${ports.devnetPort}`, { method: "POST", body });
  return answer.body["result"];
};

/** ERC-20 `balanceOf(owner)`, in base units. */
const balanceOf = async (owner: string): Promise<bigint> => {
  const data = `0x70a08231${owner.slice(2).padStart(64, "0")}`;
  return BigInt(String(await askNode("eth_call", { to: devnet.token, data }, "latest")));
};

describe("the development chain of npm start", () => {
  // Guards the whole walk: checkout's calldata, the proxy, the watcher, the link; over two restarts.
  test("a link is paid for real, in parts, also after a restart and a crash", async () => {
    const first = await start();
    const merchant = await openShop();
    const linkId = await createLink(merchant, { toAmount: "25" });

    const part = await admin("devnet", "pay", "--link", linkId, "--amount", "10.000001");
    expect(part.output).toMatch(/^\{[^\n]*\}\n$/);
    const paid = JSON.parse(part.output);
    expect(paid).toEqual({
      transactionHash: expect.stringMatching(/^0x[0-9a-f]{64}$/),
      amount: "10.000001",
      paymentLinkId: linkId,
    });
    await waitReceived(linkId, "10.000001");
    expect(await balanceOf(shopAddress)).toBe(10_000_001n);
    expect(await checkout(linkId)).toMatchObject({
      status: "active",
      remainingAmount: "14.999999",
    });
    expect(await first.end("SIGTERM")).toBe(0);

    const second = await start();
    await admin("devnet", "pay", "--link", linkId, "--amount", "4.999999");
    await waitReceived(linkId, "15");
    await second.end("SIGKILL");
    // Its node ends after it, once the node's state is written.
    await waitUntil("the port is free", () =>
      askNode("eth_chainId").then(
        () => false,
        () => true,
      ),
    );

    await start();
    const rest = await admin("devnet", "pay", "--link", linkId);
    expect(JSON.parse(rest.output)).toMatchObject({ amount: "10" });
    await waitReceived(linkId, "25");
    expect(await checkout(linkId)).toMatchObject({ status: "completed", reason: "completed" });

    const again = await admin("devnet", "pay", "--link", linkId);
    expect(again).toEqual({ code: 1, output: "the link takes no payment: completed\n" });
    expect(await balanceOf(shopAddress)).toBe(25_000_000n);
  }, 180_000);

  test("what cannot be paid on it is told so: a link of another chain, none, an amount too fine", async () => {
    await start();
    const merchant = await openShop();
    const linkId = await createLink(merchant, { toAmount: "1" });
    const fine = await admin("devnet", "pay", "--link", linkId, "--amount", "0.0000001");
    expect([fine.code, fine.output]).toEqual([
      1,
      "INVALID_PAYMENT_LINK_AMOUNT: The amount has more decimals than the token allows.\n",
    ]);
    const none = await admin("devnet", "pay", "--link", "plink_x");
    expect(none.output).toBe("CANNOT_FIND_PAYMENT_LINK: The payment link cannot be found.\n");
    const other = await openMerchant({ baseUrl, internalUrl }, "bob");
    const otherId = await createLink(other, { toAmount: "1" });
    const elsewhere = await admin("devnet", "pay", "--link", otherId);
    expect(elsewhere.code).toBe(1);
    expect(elsewhere.output).toContain("is paid in USDC on Base, not on the local devnet");
  }, 90_000);

  test("given a taken port, it has another and says so; the operator's command finds it", async () => {
    const holder = createServer();
    await new Promise<void>((resolve) => holder.listen(ports.devnetPort, "127.0.0.1", resolve));
    try {
      const child = await start();
      expect(child.output()).toContain(`Port ${ports.devnetPort} is taken`);
      const linkId = await createLink(await openShop(), { toAmount: "1" });
      expect((await admin("devnet", "pay", "--link", linkId)).code).toBe(0);
      await waitReceived(linkId, "1");
    } finally {
      await new Promise((resolve) => holder.close(resolve));
    }
  }, 90_000);

  test("--no-devnet leaves it out; links that were made on it stay readable", async () => {
    const first = await start("--no-devnet");
    expect(first.output()).not.toContain("devnet");
    const merchant = await openMerchant({ baseUrl, internalUrl }, "alice");
    const listTokens = async () => {
      const { body } = await call(`${baseUrl}/console/api/tokens`, {
        headers: { cookie: merchant.cookie },
      });
      return JSON.stringify(body);
    };
    expect(await listTokens()).not.toContain(devnet.tokenId);
    const told = await admin("devnet", "pay", "--link", "plink_x");
    expect([told.code, told.output]).toEqual([
      1,
      "no local devnet runs there; npm start brings it up, without --no-devnet\n",
    ]);
    await first.end("SIGTERM");

    const second = await start();
    await addDevnetWallet(merchant);
    const linkId = await createLink(merchant, { toAmount: "1" });
    await second.end("SIGTERM");

    await start("--no-devnet");
    expect(await retrieve(linkId)).toMatchObject({ id: linkId, status: "active" });
    expect(await checkout(linkId)).toMatchObject({
      instructions: null,
      reason: "chain_not_watched",
    });
  }, 120_000);
});
