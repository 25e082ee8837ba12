import { chmod, mkdtemp, rm } from "node:fs/promises";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "@jest/globals";
import { devnet } from "@payment-links/contracts";
import { knownLocalChains } from "../deploy/src/devnet/known-local-chains.ts";
import { type Child, startChild, waitUntilReady } from "./rig/child.ts";
import { type Merchant, call, createMerchant } from "./rig/client.ts";
import { type WebhookReceiver, isSignedWith, startReceiver } from "./rig/receiver.ts";
import { registerEndpoint } from "./rig/register-endpoint.ts";
import { waitUntil } from "@payment-links/runtime/testing";
import { callRpc } from "@payment-links/local-chains/call-rpc";
import { requireBtcd } from "@payment-links/local-chains/testing/require-btcd";
import { findFreePorts } from "@payment-links/runtime/testing/free-port";

const bitcoinSuite = await requireBtcd();

const crashTestMsMax = 400_000;

let dataDir: string;
let ports: { port: number; internalPort: number; devnetPort: number };
let children: Child[];
let baseUrl: string;
let internalUrl: string;
/** How `admin` names the service that it called. */
const describeListener = (): string => ` (from settlement-listener at ${internalUrl})`;
let receiver: WebhookReceiver;
/** Environment variables that a test sets in addition to the common ones. */
let extraEnv: Record<string, string>;

beforeEach(async () => {
  receiver = await startReceiver();
  extraEnv = {};
  dataDir = await mkdtemp(join(tmpdir(), "payment-links-"));
  // If root starts Postgres, Postgres runs as another user. This user needs access to the
  // directory.
  await chmod(dataDir, 0o755);
  const [port = 0, internalPort = 0, devnetPort = 0] = await findFreePorts(3);
  ports = { port, internalPort, devnetPort };
  baseUrl = `http://127.0.0.1:${port}`;
  internalUrl = `http://127.0.0.1:${internalPort}`;
  children = [];
});

afterEach(async () => {
  await Promise.all(children.map((child) => child.terminate("SIGTERM")));
  await receiver.close();
  await rm(dataDir, { recursive: true, force: true });
});

const startAllInOne = async (...args: string[]): Promise<Child> => {
  const env = {
    DATA_DIR: dataDir,
    PORT: String(ports.port),
    INTERNAL_PORT: String(ports.internalPort),
    DEVNET_PORT: String(ports.devnetPort),
    // The test polls a link's state more often than a user would.
    RATE_LIMIT_PER_IP: "10000:10000",
    WEBHOOK_HOST_OVERRIDES: `receiver.test=http://127.0.0.1:${receiver.port}`,
    LOG_LEVEL: "warn",
    ...extraEnv,
  };
  const child = startChild("deploy/src/main.ts", env, args);
  children.push(child);
  await waitUntilReady(child, ports.internalPort);
  await waitUntil("the all-in-one is ready", () =>
    child.output().includes("Payment Links is ready"),
  );
  return child;
};

/** Runs the operator's CLI. Returns its exit code and its output. */
const runAdmin = async (...args: string[]) => {
  const child = startChild(
    "deploy/src/admin.ts",
    { SETTLEMENT_LISTENER_INTERNAL_URL: internalUrl },
    args,
  );
  await waitUntil("the command exits", () => !child.isRunning());
  return { code: await child.terminate("SIGTERM"), output: child.output() };
};

/** Creates an account whose links are paid on the EVM development chain. */
const createShopMerchant = async (): Promise<Merchant> => {
  const merchant = await createMerchant({ baseUrl, internalUrl }, "alice", { mode: "test" });
  await addWallet(merchant);
  return merchant;
};

const addWallet = async (
  { cookie }: Merchant,
  wallet = { walletAddress: shopAddress, tokenId: devnet.tokenId as string },
): Promise<void> => {
  const walletResponse = await call(`${baseUrl}/console/api/wallets`, {
    method: "POST",
    headers: { cookie },
    body: { ...wallet, isDefault: true },
  });
  expect([walletResponse.status, walletResponse.body["isDefault"]]).toEqual([201, true]);
};

/** An address without an owner. */
const shopAddress = "0x8617E340B3D01FA5F11F306F4090FD50E238070D";

const createLink = async ({ apiKey }: Merchant, body: object): Promise<string> => {
  const headers = { "x-api-key": apiKey };
  const created = await call(`${baseUrl}/v1/payment-link`, {
    method: "POST",
    headers,
    body,
  });
  expect(created.status).toBe(200);
  return String(created.body["id"]);
};

const readLink = async (linkId: string) =>
  (await call(`${baseUrl}/v1/payment-link/${linkId}`)).body;

const readCheckout = async (linkId: string) =>
  (await call(`${baseUrl}/checkout/payment-links/${linkId}`)).body;

const waitUntilReceived = async (linkId: string, amount: string): Promise<void> => {
  try {
    await waitUntil(
      `the link has received ${amount}`,
      async () => (await readLink(linkId))["receivedAmount"] === amount,
    );
  } catch (cause) {
    throw new Error(`output of the start:\n${children.at(-1)?.output().slice(-4000)}`, { cause });
  }
};

const callNode = (method: string, ...params: unknown[]) =>
  callRpc(`http://127.0.0.1:${ports.devnetPort}`, method, params);

/**
 * A wallet on a local chain, the format of the chain's transaction IDs, and an amount with two
 * parts that add up to it.
 */
type LocalWallet = {
  tokenId: string;
  walletAddress: string;
  transaction: RegExp;
  amounts: readonly [string, string, string];
};

const usdcAmounts = ["25", "10.000001", "14.999999"] as const;

/** A wallet without an owner. */
const evmWallet: LocalWallet = {
  tokenId: devnet.tokenId,
  walletAddress: shopAddress,
  transaction: /^0x[0-9a-f]{64}$/,
  amounts: usdcAmounts,
};
const otherWallets: LocalWallet[] = [
  {
    tokenId: "usdc-local-solana",
    walletAddress: "5ZWj7a1f8tWkjBESHKgrLmXshuXxqeY9SYcfbshpAqPG",
    transaction: /^[1-9A-HJ-NP-Za-km-z]{64,88}$/,
    amounts: usdcAmounts,
  },
  {
    tokenId: "usdc-local-tron",
    walletAddress: "TR7NHqjeKQxGTCi8q8ZY4pL8otSzgjLj6t",
    transaction: /^0x[0-9a-f]{64}$/,
    amounts: usdcAmounts,
  },
];
/** Derived from the mnemonic of BIP-84's test vectors. */
const bitcoinWallet: LocalWallet = {
  tokenId: "btc-local-bitcoin",
  walletAddress:
    "vpub5Y6cjg78GGuNLsaPhmYsiw4gYX3HoQiRBiSwDaBXKUafCt9bNwWQiitDk5VZ5BVxYnQdwoTyXSs2JHRPAgjAvtbBrf8ZhDYe2jWAqvZVnsc",
  transaction: /^[0-9a-f]{64}$/,
  amounts: ["0.25", "0.1", "0.15"],
};

/**
 * Returns the types of the link's webhooks in alphabetical order. A webhook with an invalid
 * signature appears as `unsigned`.
 */
const listWebhookTypes = (secret: string, linkId: string): string[] =>
  receiver.received
    .filter(({ body }) => body.data["paymentLinkId"] === linkId)
    .map((webhook) => (isSignedWith(secret, webhook) ? webhook.body.type : "unsigned"))
    .sort();

/**
 * Returns a Node option that makes the import of a package fail, as on a machine where the package
 * cannot be installed.
 */
const buildMissingPackageOption = (name: string): string =>
  `--import=data:text/javascript,${encodeURIComponent(
    `import { registerHooks } from "node:module";
     registerHooks({ resolve: (specifier, context, next) => {
       if (specifier === "${name}") throw new Error("${name} is not here\\nand more of it");
       return next(specifier, context);
     } });`,
  )}`;

/** Returns the ERC-20 `balanceOf(owner)`, in base units. */
const balanceOf = async (owner: string): Promise<bigint> => {
  const data = `0x70a08231${owner.slice(2).padStart(64, "0")}`;
  return BigInt(String(await callNode("eth_call", { to: devnet.token, data }, "latest")));
};

/** Returns the id of the token in which a link is paid. */
const getTokenId = async (linkId: string): Promise<string> => {
  const { user } = await readLink(linkId);
  return (user as { wallet: { token: { id: string } } }).wallet.token.id;
};

const createLinks = async (merchant: Merchant, wallets: readonly LocalWallet[]) => {
  const links: (LocalWallet & { linkId: string })[] = [];
  for (const wallet of wallets) {
    const { tokenId, walletAddress, amounts } = wallet;
    await addWallet(merchant, { tokenId, walletAddress });
    // A new default wallet applies to new links within 1 second (rule CALLER-3).
    const linkId = await waitUntil("a new link uses this wallet", async () => {
      const id = await createLink(merchant, { toAmount: amounts[0] });
      return (await getTokenId(id)) === tokenId && id;
    });
    links.push({ ...wallet, linkId });
  }
  return links;
};

const payAcrossCrash = async (wallets: readonly LocalWallet[]): Promise<void> => {
  const firstRun = await startAllInOne();
  const merchant = await createMerchant({ baseUrl, internalUrl }, "alice", { mode: "test" });
  const { secret } = await registerEndpoint(
    { baseUrl },
    merchant,
    "https://receiver.test/hook",
    "test",
  );
  const links = await createLinks(merchant, wallets);
  for (const { linkId, transaction, amounts } of links) {
    const [, amount] = amounts;
    const partResult = await runAdmin("devnet", "pay", "--link", linkId, "--amount", amount);
    expect(partResult.output).toMatch(/^\{[^\n]*\}\n$/);
    expect(JSON.parse(partResult.output)).toEqual({
      transactionHash: expect.stringMatching(transaction),
      amount,
      paymentLinkId: linkId,
    });
    await waitUntilReceived(linkId, amount);
  }
  expect(await firstRun.terminate("SIGTERM")).toBe(0);
  const secondRun = await startAllInOne();
  for (const { linkId, amounts } of links) await waitUntilReceived(linkId, amounts[1]);
  await secondRun.terminate("SIGKILL");
  // The EVM chain's node exits later than this process, after it has written its state.
  await waitUntil("the port is free", () =>
    callNode("eth_chainId").then(
      () => false,
      () => true,
    ),
  );
  await startAllInOne();
  for (const { linkId, amounts } of links) {
    const [fullAmount, , remainingAmount] = amounts;
    const payResult = await runAdmin("devnet", "pay", "--link", linkId);
    expect(JSON.parse(payResult.output)).toMatchObject({ amount: remainingAmount });
    await waitUntilReceived(linkId, fullAmount);
    expect(await readLink(linkId)).toMatchObject({ status: "completed" });
    const succeededType = "payment_link.transaction.succeeded";
    await waitUntil("the webhooks arrive", () => listWebhookTypes(secret, linkId).length >= 3);
    const types = ["payment_link.completed", succeededType, succeededType];
    expect(listWebhookTypes(secret, linkId)).toEqual(types);
  }
};

const payOnResetChains = async (wallets: readonly LocalWallet[]): Promise<void> => {
  const firstRun = await startAllInOne();
  const merchant = await createMerchant({ baseUrl, internalUrl }, "alice", { mode: "test" });
  const links = await createLinks(merchant, wallets);
  for (const { linkId, amounts } of links) {
    const [, partAmount] = amounts;
    await runAdmin("devnet", "pay", "--link", linkId, "--amount", partAmount);
    await waitUntilReceived(linkId, partAmount);
  }
  await firstRun.terminate("SIGTERM");
  for (const { stateFile } of Object.values(knownLocalChains)) {
    await rm(join(dataDir, stateFile), { force: true });
  }
  await startAllInOne();
  for (const { linkId, amounts } of links) {
    expect((await runAdmin("devnet", "pay", "--link", linkId)).code).toBe(0);
    await waitUntilReceived(linkId, amounts[0]);
  }
};

describe("the development chain of npm start", () => {
  test("lets a completed, expired or deactivated link be paid, so that its owner sees the extra or late payment", async () => {
    await startAllInOne();
    const merchant = await createShopMerchant();
    const readPayments = async (linkId: string) => {
      const path = `${baseUrl}/console/api/payment-links/${linkId}`;
      return (await call(path, { headers: { cookie: merchant.cookie } })).body["payments"];
    };
    const expectLatePayment = async (
      linkId: string,
      amount: string,
      reason: string,
    ): Promise<void> => {
      await waitUntil(
        `the link is ${reason}`,
        async () => (await readCheckout(linkId)).reason === reason,
      );
      const payResult = await runAdmin("devnet", "pay", "--link", linkId);
      expect(payResult).toMatchObject({ code: 0 });
      expect(JSON.parse(payResult.output)).toMatchObject({ amount, paymentLinkId: linkId });
      const latePayment = { status: "settled", applied: false, amount, reason };
      await waitUntil("the owner sees the payment", async () =>
        ((await readPayments(linkId)) as object[]).some((payment) =>
          Object.entries(latePayment).every(
            ([name, value]) => Reflect.get(payment, name) === value,
          ),
        ),
      );
    };

    const twicePaidLinkId = await createLink(merchant, { toAmount: "25" });
    await runAdmin("devnet", "pay", "--link", twicePaidLinkId);
    await expectLatePayment(twicePaidLinkId, "25", "completed");

    // Block times are whole seconds. A payment in a block that is mined in the second of the
    // expiration would still be on time.
    const expirationDate = new Date((Math.ceil(Date.now() / 1_000) + 1) * 1_000).toISOString();
    await expectLatePayment(
      await createLink(merchant, { toAmount: "3", expirationDate }),
      "3",
      "expired",
    );

    const deactivatedLinkId = await createLink(merchant, { toAmount: "4" });
    const path = `${baseUrl}/console/api/payment-links/${deactivatedLinkId}/deactivate`;
    await call(path, { method: "POST", headers: { cookie: merchant.cookie }, body: {} });
    await expectLatePayment(deactivatedLinkId, "4", "inactive");
    expect(await balanceOf(shopAddress)).toBe(57_000_000n);
  });

  // Covers the whole path: the instructions of the checkout, the chain, the watcher and the link.
  // Also covers that a chain's stored state matches the state of its watcher.
  test(
    "lets a link on each local chain be paid in parts, across a restart and a crash, and notifies its owner",
    () => payAcrossCrash([evmWallet, ...otherWallets]),
    crashTestMsMax,
  );

  // The README promises that a watcher of the old chain continues on the new chain.
  test("starts from scratch when its files are deleted, and links on it are paid", () =>
    payOnResetChains([evmWallet, ...otherWallets]));

  test("skips a local chain whose programs are missing, and says so in one line", async () => {
    extraEnv = { NODE_OPTIONS: buildMissingPackageOption("litesvm") };
    const child = await startAllInOne();
    expect(child.output()).toMatch(/^Local Solana is not available: litesvm is not here$/m);
    expect(child.output()).not.toContain("and more of it");
    expect(child.output()).toMatch(/^Local Tron \(chain local-tron\) at http:/m);
    const { cookie } = await createMerchant({ baseUrl, internalUrl }, "alice", { mode: "test" });
    const { body } = await call(`${baseUrl}/console/api/tokens`, { headers: { cookie } });
    const ids = (body["data"] as { id: string }[]).map(({ id }) => id);
    expect(ids).toEqual(expect.arrayContaining(["usdc-devnet", "usdc-local-tron"]));
    expect(ids).not.toContain("usdc-local-solana");
  });

  test("is selected by DEVNET_CHAINS; a link on another chain stays readable", async () => {
    extraEnv = { DEVNET_CHAINS: "local-tron" };
    const firstRun = await startAllInOne();
    expect(firstRun.output()).toContain("Local Tron");
    expect(firstRun.output()).not.toMatch(/Local (devnet|Solana)/);
    const merchant = await createMerchant({ baseUrl, internalUrl }, "alice", { mode: "test" });
    for (const wallet of otherWallets.slice(1)) await addWallet(merchant, wallet);
    const linkId = await createLink(merchant, { toAmount: "1" });
    await firstRun.terminate("SIGTERM");

    extraEnv = { DEVNET_CHAINS: "local-evm" };
    await startAllInOne();
    expect(await readCheckout(linkId)).toMatchObject({
      status: "active",
      reason: "chain_not_watched",
    });
    const otherChainResult = await runAdmin("devnet", "pay", "--link", linkId);
    expect(otherChainResult.output).toBe(
      "DEVNET_CANNOT_PAY: the link is paid in USDC on Local Tron, which is not one of the running " +
        `local chains (31337); its owner needs a default wallet on one of them${describeListener()}\n`,
    );
  });

  test("explains why it cannot pay: a link of another chain, an unknown link, too many decimals", async () => {
    await startAllInOne();
    const merchant = await createShopMerchant();
    const linkId = await createLink(merchant, { toAmount: "1" });
    const tooFineResult = await runAdmin(
      "devnet",
      "pay",
      "--link",
      linkId,
      "--amount",
      "0.0000001",
    );
    expect([tooFineResult.code, tooFineResult.output]).toEqual([
      1,
      `INVALID_PAYMENT_LINK_AMOUNT: The amount has more decimals than the token allows.${describeListener()}\n`,
    ]);
    const missingLinkResult = await runAdmin("devnet", "pay", "--link", "plink_x");
    expect(missingLinkResult.output).toBe(
      `CANNOT_FIND_PAYMENT_LINK: The payment link cannot be found.${describeListener()}\n`,
    );
    const otherMerchant = await createMerchant({ baseUrl, internalUrl }, "bob");
    const otherLinkId = await createLink(otherMerchant, { toAmount: "1" });
    const otherChainResult = await runAdmin("devnet", "pay", "--link", otherLinkId);
    expect(otherChainResult.code).toBe(1);
    expect(otherChainResult.output).toContain(
      "is paid in USDC on Base, which is not one of the running local chains",
    );
  });

  test("uses another port and says so when its port is in use; the operator's command finds it", async () => {
    const portHolder = createServer();
    await new Promise<void>((resolve) => portHolder.listen(ports.devnetPort, "127.0.0.1", resolve));
    try {
      const child = await startAllInOne();
      expect(child.output()).toContain(`Port ${ports.devnetPort} is in use`);
      const linkId = await createLink(await createShopMerchant(), { toAmount: "1" });
      expect((await runAdmin("devnet", "pay", "--link", linkId)).code).toBe(0);
      await waitUntilReceived(linkId, "1");
    } finally {
      await new Promise((resolve) => portHolder.close(resolve));
    }
  });

  test("is skipped with --no-devnet; links created on it stay readable", async () => {
    const firstRun = await startAllInOne("--no-devnet");
    expect(firstRun.output()).not.toMatch(/devnet|local /i);
    const merchant = await createMerchant({ baseUrl, internalUrl }, "alice", { mode: "test" });
    const listTokens = async () => {
      const { body } = await call(`${baseUrl}/console/api/tokens`, {
        headers: { cookie: merchant.cookie },
      });
      return JSON.stringify(body);
    };
    expect(await listTokens()).not.toContain(devnet.tokenId);
    const noDevnetResult = await runAdmin("devnet", "pay", "--link", "plink_x");
    expect([noDevnetResult.code, noDevnetResult.output]).toEqual([
      1,
      expect.stringMatching(
        /^no local chain is running; use npm start without --no-devnet \(asked [a-z-]+ at http\S+\)\n$/,
      ),
    ]);
    await firstRun.terminate("SIGTERM");

    const secondRun = await startAllInOne();
    await addWallet(merchant);
    const linkId = await createLink(merchant, { toAmount: "1" });
    await secondRun.terminate("SIGTERM");

    await startAllInOne("--no-devnet");
    expect(await readLink(linkId)).toMatchObject({ id: linkId, status: "active" });
    expect(await readCheckout(linkId)).toMatchObject({
      instructions: null,
      reason: "chain_not_watched",
    });
  });
});

bitcoinSuite.describe("the local Bitcoin of npm start", () => {
  test(
    "lets a link be paid in parts, across a restart and a crash, and notifies its owner",
    () => payAcrossCrash([bitcoinWallet]),
    crashTestMsMax,
  );

  test("starts from scratch when its file is deleted, and a link on it is paid", () =>
    payOnResetChains([bitcoinWallet]));
});
