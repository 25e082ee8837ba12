import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type CatalogueData, loadCatalogue, buildOwnerImagePath } from "@payment-links/contracts";
import { waitUntil } from "@payment-links/runtime/testing";
import type { ServiceName } from "@payment-links/deploy/ingress";
import { startSolanaChain } from "@payment-links/local-chains/solana/start-solana-chain";
import { type Merchant, call, createMerchant } from "../rig/client.ts";
import { startRealSystem } from "../rig/real-system.ts";
import { acmeProvider, buildShopEnv } from "../rig/shop-env.ts";
import { readChartMemory } from "./chart-memory.ts";
import { type Call, type Ports, createHttpCaller } from "./http-caller.ts";
import type { Target } from "./target.ts";

/** The size of the attacker's account, which determines the cost of its exports and deep pages. */
export type AccountSize = { linkCount: number; auditCount: number };

const otherCount = 4;
const imageOwners = 8;
const imageHost = "hanging.test";
/**
 * Source addresses for the requests that fill the account. Each address stays below the rate
 * limits.
 */
const fillAddresses = Array.from({ length: 64 }, (_, index) => `127.0.3.${index + 1}`);
const fillConnections = 24;

/**
 * Starts one process of each service with the chart's heap limit and the default rate limits.
 * Creates an account for the attacker, an account for each of the other callers, and owners whose
 * images never load.
 */
export const startTarget = async (size: AccountSize) => {
  const hangingServer = createServer((req) => req.resume());
  await new Promise<void>((resolve) => hangingServer.listen(0, "127.0.0.1", resolve));
  const { port: hangingPort } = hangingServer.address() as AddressInfo;
  // The Solana chain runs in this process, because the memory of the product's processes is
  // measured.
  const solana = await startSolanaChain({ confirmedLag: 0, finalizedLag: 4 });
  solana.mine(10);
  const folder = await mkdtemp(join(tmpdir(), "payment-links-attacks-"));
  const catalogueFile = join(folder, "catalogue.json");
  await writeFile(catalogueFile, JSON.stringify(addChains(solana.catalogueData)));
  const memory = readChartMemory();
  const createHeapEnv = (service: ServiceName) => ({
    NODE_OPTIONS: `--max-old-space-size=${memory[service].heapMib}`,
  });
  const system = await startRealSystem({
    replicasPerService: 1,
    env: {
      ...buildShopEnv({ port: hangingPort }),
      CATALOGUE_FILE: catalogueFile,
      RPC_URLS: `local-solana=${solana.url}`,
      SETTLEMENT_CHAINS: "8453,local-solana",
      WEBHOOK_HOST_OVERRIDES: `${imageHost}=http://127.0.0.1:${hangingPort}`,
    },
    envByService: {
      "auth-keys": createHeapEnv("auth-keys"),
      "links-api": createHeapEnv("links-api"),
      "settlement-listener": createHeapEnv("settlement-listener"),
      "webhook-dispatcher": createHeapEnv("webhook-dispatcher"),
    },
  });
  const close = async (): Promise<void> => {
    await system.close();
    await solana.close();
    await rm(folder, { recursive: true });
    hangingServer.closeAllConnections();
    hangingServer.close();
  };
  try {
    const processes = system.replicas.map((replica) => ({
      service: replica.service,
      pid: replica.pid(),
    }));
    const ports = Object.fromEntries(
      system.replicas.map(({ port, service }) => [service, port]),
    ) as Ports;
    const attacker = await createMerchant(system, "attacker");
    const otherMerchants: Merchant[] = [];
    for (let n = 1; n <= otherCount; n += 1)
      otherMerchants.push(await createMerchant(system, `other_${n}`));
    await addSolanaWallet(system.baseUrl, attacker);
    const solanaLinkId = await waitForSolanaLink(system.baseUrl, attacker);
    const linkIds = await fillAccount(ports, attacker, size);
    const target: Omit<Target, "addresses" | "socketsMax"> = {
      ports,
      cookie: attacker.cookie,
      apiKey: attacker.apiKey,
      handle: attacker.handle,
      linkIds,
      solanaLinkId,
      filePath: await findLargestFile(ports),
      imagePaths: await createImageOwners(system),
      provider: acmeProvider.provider,
    };
    return { processes, otherMerchants, target, output: () => system.output(), close };
  } catch (error) {
    await close();
    throw error;
  }
};

/** Returns the default catalogue with additional chains and tokens. */
const addChains = ({ chains, tokens }: CatalogueData): CatalogueData => {
  const shippedCatalogue = loadCatalogue();
  return {
    chains: [...shippedCatalogue.chains, ...chains],
    tokens: [...shippedCatalogue.tokens, ...shippedCatalogue.lookalikes, ...tokens],
  };
};

const localSolanaAddress = "1nc1nerator11111111111111111111111111111111";

const addSolanaWallet = async (baseUrl: string, { cookie }: Merchant): Promise<void> => {
  const { body, status } = await call(`${baseUrl}/console/api/wallets`, {
    method: "POST",
    headers: { cookie },
    body: { tokenId: "usdc-local-solana", walletAddress: localSolanaAddress, isDefault: true },
  });
  if (status !== 201) throw new Error(`the Solana wallet was not created: ${JSON.stringify(body)}`);
};

/** A new default wallet applies to new links only after a short delay. */
const waitForSolanaLink = (baseUrl: string, { cookie }: Merchant): Promise<string> =>
  waitUntil("a new link is on Solana", async () => {
    const createdLink = await call(`${baseUrl}/console/api/payment-links?mode=test`, {
      method: "POST",
      headers: { cookie },
      body: { toAmount: "25" },
    });
    const id = String(createdLink.body["id"]);
    const response = await call(`${baseUrl}/checkout/solana/${id}`);
    return response.status === 200 ? id : undefined;
  });

/** The call exceeds a rate limit, or was not served in time because the machine is busy. */
const retriedStatuses: ReadonlySet<number> = new Set([429, 503]);

/** Creates links and audit events through the API and returns the links' ids. */
const fillAccount = async (
  ports: Ports,
  { cookie }: Merchant,
  { auditCount, linkCount }: AccountSize,
): Promise<readonly string[]> => {
  const callers = fillAddresses.map((address) => createHttpCaller(ports, address));
  const ids: string[] = [];
  const repeat = async (
    count: number,
    createCall: (n: number) => Call,
    onResponse: (text: string) => void,
  ) => {
    let startedCount = 0;
    const runWorker = async () => {
      for (let n = startedCount++; n < count; n = startedCount++) {
        const response = await waitUntil("a call was accepted", async () => {
          const caller = callers[Math.floor(Math.random() * callers.length)];
          const { status, text } = (await caller?.send(createCall(n))) ?? { text: "" };
          if (status === 200) return { text };
          if (status !== undefined && !retriedStatuses.has(status))
            throw new Error(`the account was not filled: ${status} ${text}`);
          return undefined;
        });
        onResponse(response.text);
      }
    };
    await Promise.all(Array.from({ length: fillConnections }, runWorker));
  };
  const headers = { cookie };
  await repeat(
    linkCount,
    () => ({
      method: "POST",
      path: "/console/api/payment-links",
      headers,
      body: JSON.stringify({ toAmount: "25", description: "Order" }),
    }),
    (text) => ids.push((JSON.parse(text) as { id: string }).id),
  );
  await repeat(
    auditCount,
    (n) => ({
      method: "PATCH",
      path: "/console/api/account",
      headers,
      body: JSON.stringify({ bio: `Entry ${n}` }),
    }),
    () => {},
  );
  for (const caller of callers) caller.close();
  return ids;
};

/**
 * Finds the console's largest file. It is the largest response that does not require an account.
 */
const findLargestFile = async (ports: Ports): Promise<string> => {
  const caller = createHttpCaller(ports, "127.0.3.1");
  const { text } = await caller.send({ path: "/console" });
  const paths = [...new Set(text.match(/\/console\/assets\/[\w.-]+/g) ?? [])];
  const sizes = await Promise.all(
    paths.map(async (path) => ({ path, size: (await caller.send({ path })).text.length })),
  );
  caller.close();
  const largest = sizes.toSorted((a, b) => b.size - a.size)[0];
  if (largest === undefined) throw new Error("the console has no files");
  return largest.path;
};

/**
 * Creates owners who each have two images on a host that never responds. Returns the image paths.
 */
const createImageOwners = async (system: {
  baseUrl: string;
  internalUrl: string;
}): Promise<readonly string[]> => {
  const paths: string[] = [];
  for (let index = 0; index < imageOwners; index += 1) {
    const owner = await createMerchant(system, `owner_${index}`);
    const images = {
      profileImage: `https://${imageHost}/profile-${index}.png`,
      backgroundImage: `https://${imageHost}/background-${index}.png`,
    };
    const { body, status } = await call(`${system.baseUrl}/console/api/account`, {
      method: "PATCH",
      headers: { cookie: owner.cookie },
      body: images,
    });
    if (status !== 200) throw new Error(`the images were not stored: ${JSON.stringify(body)}`);
    paths.push(...Object.values(images).map((url) => buildOwnerImagePath(owner.userId, url)));
  }
  return paths;
};
