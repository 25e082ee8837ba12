import { type Server, createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { afterAll, beforeAll, describe, expect, test } from "@jest/globals";
import {
  type Hex,
  createPublicClient,
  encodeDeployData,
  encodeFunctionData,
  getAddress,
  getContractAddress,
  http,
  pad,
  parseAbi,
  serializeErc6492Signature,
  toHex,
} from "viem";
import { presenceMsMax } from "@payment-links/identity";
import { createLog } from "@payment-links/runtime";
import { type Anvil, startAnvil } from "@payment-links/local-chains/evm/start-anvil";
import { hangLimitMs } from "@payment-links/runtime/testing/time-limits";
import {
  type Rig,
  getCookies,
  createRig,
  summarizeResponse,
} from "../services/auth-keys/src/testing/create-rig.ts";
import {
  fetchNonce,
  createWallet,
  createTestSiweMessage,
} from "../services/auth-keys/src/testing/siwe.ts";
import { compileContracts } from "@payment-links/local-chains/evm/compile-contracts";

const chainId = 8453;
const deployer = "0xf39Fd6e51aad88F6F4ce6aB8827279cffFb92266";
const sessionPath = "/console/api/session";
const rejectedResult = "401 INVALID_SIWE_MESSAGE";
const unavailableResult = "503 SIWE_CHAIN_UNAVAILABLE";
/** The timeout for an RPC provider's response. */
const responseMsMax = 4_000;

const abi = parseAbi([
  "constructor(address owner)",
  "function create(address owner, bytes32 salt) returns (address)",
  "function handOver(address next)",
  "function take(address next)",
]);

type Signer = ReturnType<typeof createWallet>;

let anvil: Anvil;
let rig: Rig;
let bytecodes: Record<string, Hex>;
let factory: Hex;
let silentServer: Server;

beforeAll(async () => {
  const log = createLog({ service: "tests", level: "warn" });
  const source = new URL("contract-wallets/test-wallets.sol", import.meta.url);
  bytecodes = await compileContracts(source);
  anvil = await startAnvil({ flags: ["--chain-id", String(chainId)], log });
  factory = await deploy(bytecodes["TestWalletFactory"] ?? "0x");
  // Accepts requests and never responds.
  silentServer = createServer(() => {}).listen(0, "127.0.0.1");
  rig = await createRig({ rpcUrls: new Map([[String(chainId), [anvil.url]]]) });
});
afterAll(async () => {
  await rig?.close();
  await anvil?.close();
  silentServer?.closeAllConnections();
  silentServer?.close();
});

const client = () => createPublicClient({ transport: http(anvil.url) });

const send = async (transaction: object) => {
  const gas = toHex(3_000_000);
  const hash = await client().request({
    method: "eth_sendTransaction",
    params: [{ from: deployer, gas, ...transaction }],
  } as never);
  return client().waitForTransactionReceipt({ hash });
};

const deploy = async (data: Hex): Promise<Hex> => {
  const { contractAddress } = await send({ data });
  return getAddress(contractAddress ?? "0x");
};

const walletCode = (owner: Hex, name = "TestWallet"): Hex =>
  encodeDeployData({ abi, bytecode: bytecodes[name] ?? "0x", args: [owner] });

/** Computes the address of a wallet before it is deployed, and the calldata that deploys it. */
const planWallet = (owner: Hex, salt = pad(owner)) => ({
  address: getContractAddress({
    from: factory,
    bytecode: walletCode(owner),
    salt,
    opcode: "CREATE2",
  }),
  creationCalldata: encodeFunctionData({ abi, functionName: "create", args: [owner, salt] }),
});

type SignInAttempt = {
  address: Hex;
  signer: Signer;
  /** Wraps the signature. By default, the signature is unchanged. */
  wrapSignature?: (signature: Hex) => Hex;
  targetRig?: Rig;
  chain?: number;
};

const signIn = async ({
  address,
  signer,
  wrapSignature = (signature) => signature,
  targetRig = rig,
  chain,
}: SignInAttempt) => {
  const { nonce, browserCookie } = await fetchNonce(targetRig);
  const issuedAt = targetRig.clock.now();
  const message = createTestSiweMessage({ address, nonce, issuedAt, chainId: chain ?? chainId });
  const siwe = { message, signature: wrapSignature(await signer.signMessage({ message })) };
  return targetRig.call("POST", sessionPath, { cookie: browserCookie, body: { siwe } });
};

const createErc6492Wrapper = (address: Hex, data: Hex) => (signature: Hex) =>
  serializeErc6492Signature({ address, data, signature });

describe("a deployed contract wallet", () => {
  test("signs in by its owner's signature, as itself on its chain, and proves presence (rule CALLER-11)", async () => {
    const owner = createWallet();
    const address = await deploy(walletCode(owner.address));
    const response = await signIn({ address, signer: owner });
    expect(response.status).toBe(200);
    const cookie = getCookies(response.headers);
    const { body } = await rig.call("GET", "/console/api/identities", { cookie });
    expect(body["data"]).toMatchObject([{ issuer: `eip155:${chainId}`, subject: address }]);
    const secondResponse = await signIn({ address, signer: owner });
    expect(secondResponse.body["id"]).toBe(response.body["id"]);
    rig.clock.advance(presenceMsMax);
    const { nonce, browserCookie } = await fetchNonce(rig, cookie);
    const message = createTestSiweMessage({ address, nonce, issuedAt: rig.clock.now(), chainId });
    const proof = await rig.call("POST", `${sessionPath}/presence`, {
      cookie: `${cookie}; ${browserCookie}`,
      body: { siwe: { message, signature: await owner.signMessage({ message }) } },
    });
    expect(proof.status).toBe(204);
  });

  test("rejects anyone else's signature, bare or wrapped", async () => {
    const address = await deploy(walletCode(createWallet().address));
    const signer = createWallet();
    expect(summarizeResponse(await signIn({ address, signer }))).toBe(rejectedResult);
    const alwaysValidWallet = await deploy(bytecodes["YesSayer"] ?? "0x");
    const wrapSignature = createErc6492Wrapper(alwaysValidWallet, "0x1234");
    expect(summarizeResponse(await signIn({ address, signer, wrapSignature }))).toBe(
      rejectedResult,
    );
  });

  test("rejects a malformed signature wrapper", async () => {
    const signer = createWallet();
    const address = await deploy(walletCode(signer.address));
    const createMarkedSignature = (paddingHex: string) => (): Hex =>
      `0x${paddingHex}${"6492".repeat(16)}`;
    for (const paddingHex of ["", "1234", "ff".repeat(96)]) {
      expect(
        summarizeResponse(
          await signIn({ address, signer, wrapSignature: createMarkedSignature(paddingHex) }),
        ),
      ).toBe(rejectedResult);
    }
  });

  test("is verified in its current state: a former owner cannot sign in", async () => {
    const formerOwner = createWallet();
    const newOwner = createWallet();
    const address = await deploy(walletCode(formerOwner.address));
    const { body } = await signIn({ address, signer: formerOwner });
    const data = encodeFunctionData({ abi, functionName: "handOver", args: [newOwner.address] });
    await client().request({
      method: "anvil_impersonateAccount",
      params: [formerOwner.address],
    } as never);
    await client().request({
      method: "anvil_setBalance",
      params: [formerOwner.address, toHex(10n ** 18n)],
    } as never);
    await send({ from: formerOwner.address, to: address, data });
    expect(summarizeResponse(await signIn({ address, signer: formerOwner }))).toBe(rejectedResult);
    // If the signature's deployment call were run, it would create the wallet with the former
    // owner.
    const wrapSignature = createErc6492Wrapper(
      factory,
      planWallet(formerOwner.address).creationCalldata,
    );
    expect(summarizeResponse(await signIn({ address, signer: formerOwner, wrapSignature }))).toBe(
      rejectedResult,
    );
    expect((await signIn({ address, signer: newOwner })).body["id"]).toBe(body["id"]);
  });

  // With ERC-6492, the call in the signature could first change the contract's state.
  test("is verified without running the call that a signature contains", async () => {
    const attacker = createWallet();
    const address = await deploy(walletCode(createWallet().address, "OpenWallet"));
    const data = encodeFunctionData({ abi, functionName: "take", args: [attacker.address] });
    const wrapSignature = createErc6492Wrapper(address, data);
    expect(summarizeResponse(await signIn({ address, signer: attacker, wrapSignature }))).toBe(
      rejectedResult,
    );
  });

  test("is rejected within the time limit if it loops or responds endlessly", async () => {
    const startedAt = performance.now();
    for (const name of ["Spinner", "Chatterer"]) {
      const address = await deploy(bytecodes[name] ?? "0x");
      const response = await signIn({ address, signer: createWallet() });
      expect([
        name,
        [rejectedResult, unavailableResult].includes(summarizeResponse(response)),
      ]).toEqual([name, true]);
    }
    expect(performance.now() - startedAt).toBeLessThan(hangLimitMs(2 * responseMsMax));
  });
});

describe("a contract wallet that is not deployed", () => {
  test("signs in with a signature that contains its deployment, and keeps its identity once deployed (rule CALLER-11)", async () => {
    const owner = createWallet();
    const { address, creationCalldata } = planWallet(owner.address);
    const wrapSignature = createErc6492Wrapper(factory, creationCalldata);
    const response = await signIn({ address, signer: owner, wrapSignature });
    expect(response.status).toBe(200);
    expect(await client().getCode({ address })).toBeUndefined();
    expect(summarizeResponse(await signIn({ address, signer: owner }))).toBe(rejectedResult);
    await send({ to: factory, data: creationCalldata });
    const laterResponses = [
      await signIn({ address, signer: owner }),
      await signIn({ address, signer: owner, wrapSignature }),
    ];
    expect(laterResponses.map(({ body }) => body["id"])).toEqual([
      response.body["id"],
      response.body["id"],
    ]);
  });

  test("rejects another signer", async () => {
    const { address, creationCalldata } = planWallet(createWallet().address);
    const wrapSignature = createErc6492Wrapper(factory, creationCalldata);
    expect(
      summarizeResponse(await signIn({ address, signer: createWallet(), wrapSignature })),
    ).toBe(rejectedResult);
  });

  // The call in the signature runs first, and it can be any call.
  test("cannot be claimed through the call that a signature contains", async () => {
    const attacker = createWallet();
    const alwaysValidWallet = await deploy(bytecodes["YesSayer"] ?? "0x");
    const attackerWallet = planWallet(attacker.address);
    const victimAddresses = [createWallet().address, planWallet(createWallet().address).address];
    const wrappers = [
      createErc6492Wrapper(alwaysValidWallet, "0x1234"),
      createErc6492Wrapper(factory, attackerWallet.creationCalldata),
      createErc6492Wrapper(attackerWallet.address, "0x"),
      // This signature is wrapped twice.
      (signature: Hex) =>
        createErc6492Wrapper(
          alwaysValidWallet,
          "0x",
        )(createErc6492Wrapper(alwaysValidWallet, "0x")(signature)),
    ];
    for (const address of victimAddresses) {
      for (const wrapSignature of wrappers) {
        expect(summarizeResponse(await signIn({ address, signer: attacker, wrapSignature }))).toBe(
          rejectedResult,
        );
      }
    }
  });
});

describe("an address has separate identities", () => {
  test("for its key and for a contract", async () => {
    const keyWallet = createWallet();
    const keyResponse = await signIn({ address: keyWallet.address, signer: keyWallet });
    // Simulates a contract that another owner deploys at the key's address.
    const code = await client().getCode({ address: await deploy(walletCode(deployer)) });
    const otherOwner = createWallet();
    const copiedWallet = await deploy(walletCode(otherOwner.address));
    const slot = await client().getStorageAt({ address: copiedWallet, slot: "0x0" });
    const setAnvilState = async (method: string, ...params: unknown[]) =>
      client().request({ method, params: [keyWallet.address, ...params] } as never);
    await setAnvilState("anvil_setCode", code);
    await setAnvilState("anvil_setStorageAt", pad("0x0"), slot);
    const contractResponse = await signIn({ address: keyWallet.address, signer: otherOwner });
    expect([keyResponse.status, contractResponse.status]).toEqual([200, 200]);
    expect(contractResponse.body["id"]).not.toBe(keyResponse.body["id"]);
  });
});

describe("an unavailable chain (rule CALLER-11)", () => {
  const createOwnRig = (...urls: string[]) =>
    createRig({ rpcUrls: urls.length === 0 ? new Map() : new Map([[String(chainId), urls]]) });
  const getSilentUrl = () => `http://127.0.0.1:${(silentServer.address() as AddressInfo).port}`;

  test.each<[string, string, () => string[]]>([
    ["no provider", rejectedResult, () => []],
    ["a provider that does not respond", unavailableResult, () => [getSilentUrl()]],
    ["a provider that is unreachable", unavailableResult, () => ["http://127.0.0.1:1"]],
    [
      "one of two providers that does not respond",
      unavailableResult,
      () => [anvil.url, getSilentUrl()],
    ],
  ])("with %s, rejects a contract wallet in time and accepts a key", async (_name, code, urls) => {
    const ownRig = await createOwnRig(...urls());
    try {
      const signer = createWallet();
      const address = await deploy(walletCode(signer.address));
      const startedAt = performance.now();
      expect(summarizeResponse(await signIn({ address, signer, targetRig: ownRig }))).toBe(code);
      expect(performance.now() - startedAt).toBeLessThan(hangLimitMs(responseMsMax));
      expect((await signIn({ address: signer.address, signer, targetRig: ownRig })).status).toBe(
        200,
      );
    } finally {
      await ownRig.close();
    }
  });

  test("blocks the sign-in when two providers contradict each other", async () => {
    const log = createLog({ service: "tests", level: "warn" });
    const laggingAnvil = await startAnvil({ flags: ["--chain-id", String(chainId)], log });
    const ownRig = await createOwnRig(anvil.url, laggingAnvil.url);
    try {
      const signer = createWallet();
      const address = await deploy(walletCode(signer.address));
      expect(summarizeResponse(await signIn({ address, signer, targetRig: ownRig }))).toBe(
        rejectedResult,
      );
    } finally {
      await ownRig.close();
      await laggingAnvil.close();
    }
  });

  test("is not replaced by another chain: the message's chain is used", async () => {
    const signer = createWallet();
    const address = await deploy(walletCode(signer.address));
    expect(summarizeResponse(await signIn({ address, signer, chain: 1 }))).toBe(rejectedResult);
    const ownRig = await createRig({ rpcUrls: new Map([["1", [anvil.url]]]) });
    try {
      expect(
        summarizeResponse(await signIn({ address, signer, targetRig: ownRig, chain: 1 })),
      ).toBe(unavailableResult);
    } finally {
      await ownRig.close();
    }
  });
});
