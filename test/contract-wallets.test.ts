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
import { openLog } from "@payment-links/runtime";
import { type Anvil, startAnvil } from "@payment-links/settlement-listener/testing/start-anvil";
import { hangLimitMs } from "@payment-links/runtime/testing/time-limits";
import {
  type Rig,
  cookieOf,
  openRig,
  refusalOf,
} from "../services/auth-keys/src/testing/open-rig.ts";
import { askNonce, makeWallet, siweMessage } from "../services/auth-keys/src/testing/siwe.ts";
import { compileContracts } from "../services/settlement-listener/src/testing/compile-contracts.ts";

const chainId = 8453;
const deployer = "0xf39Fd6e51aad88F6F4ce6aB8827279cffFb92266";
const sessionPath = "/console/api/session";
const refused = "401 INVALID_SIWE_MESSAGE";
const unavailable = "503 SIWE_CHAIN_UNAVAILABLE";
/** A provider's bound. */
const answerMsMax = 4_000;

const abi = parseAbi([
  "constructor(address owner)",
  "function create(address owner, bytes32 salt) returns (address)",
  "function handOver(address next)",
  "function take(address next)",
]);

type Signer = ReturnType<typeof makeWallet>;

let anvil: Anvil;
let rig: Rig;
let codes: Record<string, Hex>;
let factory: Hex;
let silent: Server;

beforeAll(async () => {
  const log = openLog({ service: "tests", level: "warn" });
  const source = new URL("contract-wallets/test-wallets.sol", import.meta.url);
  codes = await compileContracts(source);
  anvil = await startAnvil({ flags: ["--chain-id", String(chainId)], log });
  factory = await deploy(codes["TestWalletFactory"] ?? "0x");
  // It takes requests and never answers.
  silent = createServer(() => {}).listen(0, "127.0.0.1");
  rig = await openRig({ rpcUrls: new Map([[String(chainId), [anvil.url]]]) });
});
afterAll(async () => {
  await rig?.close();
  await anvil?.close();
  silent?.closeAllConnections();
  silent?.close();
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
  encodeDeployData({ abi, bytecode: codes[name] ?? "0x", args: [owner] });

/** A wallet that is at its address only once somebody deploys it. */
const planWallet = (owner: Hex, salt = pad(owner)) => ({
  address: getContractAddress({
    from: factory,
    bytecode: walletCode(owner),
    salt,
    opcode: "CREATE2",
  }),
  creation: encodeFunctionData({ abi, functionName: "create", args: [owner, salt] }),
});

type Attempt = {
  address: Hex;
  signer: Signer;
  /** What stands around the signature; nothing unless given. */
  wrap?: (signature: Hex) => Hex;
  own?: Rig;
  chain?: number;
};

const signIn = async ({ address, signer, wrap = (bare) => bare, own = rig, chain }: Attempt) => {
  const { nonce, browser } = await askNonce(own);
  const issuedAt = own.clock.now();
  const message = siweMessage({ address, nonce, issuedAt, chainId: chain ?? chainId });
  const siwe = { message, signature: wrap(await signer.signMessage({ message })) };
  return own.call("POST", sessionPath, { cookie: browser, body: { siwe } });
};

const wrapWith = (address: Hex, data: Hex) => (signature: Hex) =>
  serializeErc6492Signature({ address, data, signature });

describe("a contract wallet that is deployed", () => {
  test("signs in by its owner's signature, as itself on its chain, and proves presence (rule CALLER-11)", async () => {
    const owner = makeWallet();
    const address = await deploy(walletCode(owner.address));
    const answer = await signIn({ address, signer: owner });
    expect(answer.status).toBe(200);
    const cookie = cookieOf(answer.headers);
    const { body } = await rig.call("GET", "/console/api/identities", { cookie });
    expect(body["data"]).toMatchObject([{ issuer: `eip155:${chainId}`, subject: address }]);
    const again = await signIn({ address, signer: owner });
    expect(again.body["id"]).toBe(answer.body["id"]);
    rig.clock.advance(presenceMsMax);
    const { nonce, browser } = await askNonce(rig, cookie);
    const message = siweMessage({ address, nonce, issuedAt: rig.clock.now(), chainId });
    const proof = await rig.call("POST", `${sessionPath}/presence`, {
      cookie: `${cookie}; ${browser}`,
      body: { siwe: { message, signature: await owner.signMessage({ message }) } },
    });
    expect(proof.status).toBe(204);
  });

  test("refuses everybody else's signature, bare or wrapped", async () => {
    const address = await deploy(walletCode(makeWallet().address));
    const signer = makeWallet();
    expect(refusalOf(await signIn({ address, signer }))).toBe(refused);
    const yesSayer = await deploy(codes["YesSayer"] ?? "0x");
    const wrap = wrapWith(yesSayer, "0x1234");
    expect(refusalOf(await signIn({ address, signer, wrap }))).toBe(refused);
  });

  test("refuses what is wrapped as no contract's signature can be", async () => {
    const signer = makeWallet();
    const address = await deploy(walletCode(signer.address));
    const marked = (words: string) => (): Hex => `0x${words}${"6492".repeat(16)}`;
    for (const words of ["", "1234", "ff".repeat(96)]) {
      expect(refusalOf(await signIn({ address, signer, wrap: marked(words) }))).toBe(refused);
    }
  });

  test("is asked as it is now: a former owner signs nobody in", async () => {
    const former = makeWallet();
    const next = makeWallet();
    const address = await deploy(walletCode(former.address));
    const { body } = await signIn({ address, signer: former });
    const data = encodeFunctionData({ abi, functionName: "handOver", args: [next.address] });
    await client().request({
      method: "anvil_impersonateAccount",
      params: [former.address],
    } as never);
    await client().request({
      method: "anvil_setBalance",
      params: [former.address, toHex(10n ** 18n)],
    } as never);
    await send({ from: former.address, to: address, data });
    expect(refusalOf(await signIn({ address, signer: former }))).toBe(refused);
    // What made it would give it back to the former owner, had it no code yet.
    const wrap = wrapWith(factory, planWallet(former.address).creation);
    expect(refusalOf(await signIn({ address, signer: former, wrap }))).toBe(refused);
    expect((await signIn({ address, signer: next })).body["id"]).toBe(body["id"]);
  });

  // ERC-6492 would let the signature prepare it first.
  test("is asked as it stands: what a signature names to be called is not", async () => {
    const thief = makeWallet();
    const address = await deploy(walletCode(makeWallet().address, "OpenWallet"));
    const data = encodeFunctionData({ abi, functionName: "take", args: [thief.address] });
    const wrap = wrapWith(address, data);
    expect(refusalOf(await signIn({ address, signer: thief, wrap }))).toBe(refused);
  });

  test("that spins or talks for ever is refused within a bound", async () => {
    const before = performance.now();
    for (const name of ["Spinner", "Chatterer"]) {
      const address = await deploy(codes[name] ?? "0x");
      const answer = await signIn({ address, signer: makeWallet() });
      expect([name, [refused, unavailable].includes(refusalOf(answer))]).toEqual([name, true]);
    }
    expect(performance.now() - before).toBeLessThan(hangLimitMs(2 * answerMsMax));
  });
});

describe("a contract wallet that is not deployed yet", () => {
  test("signs in by a signature that says what deploys it, and is the same one later (rule CALLER-11)", async () => {
    const owner = makeWallet();
    const { address, creation } = planWallet(owner.address);
    const wrap = wrapWith(factory, creation);
    const answer = await signIn({ address, signer: owner, wrap });
    expect(answer.status).toBe(200);
    expect(await client().getCode({ address })).toBeUndefined();
    expect(refusalOf(await signIn({ address, signer: owner }))).toBe(refused);
    await send({ to: factory, data: creation });
    const later = [
      await signIn({ address, signer: owner }),
      await signIn({ address, signer: owner, wrap }),
    ];
    expect(later.map(({ body }) => body["id"])).toEqual([answer.body["id"], answer.body["id"]]);
  });

  test("refuses another signer", async () => {
    const { address, creation } = planWallet(makeWallet().address);
    const wrap = wrapWith(factory, creation);
    expect(refusalOf(await signIn({ address, signer: makeWallet(), wrap }))).toBe(refused);
  });

  // The call that a signature names runs first, and may be anything.
  test("is nobody else's address: no call that a signature names makes it one's own", async () => {
    const thief = makeWallet();
    const yesSayer = await deploy(codes["YesSayer"] ?? "0x");
    const thiefs = planWallet(thief.address);
    const victims = [makeWallet().address, planWallet(makeWallet().address).address];
    const wraps = [
      wrapWith(yesSayer, "0x1234"),
      wrapWith(factory, thiefs.creation),
      wrapWith(thiefs.address, "0x"),
      // Unwrapped once it would be a wrapped one still.
      (signature: Hex) => wrapWith(yesSayer, "0x")(wrapWith(yesSayer, "0x")(signature)),
    ];
    for (const address of victims) {
      for (const wrap of wraps) {
        expect(refusalOf(await signIn({ address, signer: thief, wrap }))).toBe(refused);
      }
    }
  });
});

describe("an address is another identity", () => {
  test("as a key's own than as a contract's", async () => {
    const key = makeWallet();
    const own = await signIn({ address: key.address, signer: key });
    // As if another's contract came to lie there.
    const code = await client().getCode({ address: await deploy(walletCode(deployer)) });
    const other = makeWallet();
    const copy = await deploy(walletCode(other.address));
    const slot = await client().getStorageAt({ address: copy, slot: "0x0" });
    const anvilSet = async (method: string, ...params: unknown[]) =>
      client().request({ method, params: [key.address, ...params] } as never);
    await anvilSet("anvil_setCode", code);
    await anvilSet("anvil_setStorageAt", pad("0x0"), slot);
    const contracts = await signIn({ address: key.address, signer: other });
    expect([own.status, contracts.status]).toEqual([200, 200]);
    expect(contracts.body["id"]).not.toBe(own.body["id"]);
  });
});

describe("a chain that cannot be asked (rule CALLER-11)", () => {
  const openOwn = (...urls: string[]) =>
    openRig({ rpcUrls: urls.length === 0 ? new Map() : new Map([[String(chainId), urls]]) });
  const silentUrl = () => `http://127.0.0.1:${(silent.address() as AddressInfo).port}`;

  test.each<[string, string, () => string[]]>([
    ["no provider", refused, () => []],
    ["a provider that is silent", unavailable, () => [silentUrl()]],
    ["a provider that is gone", unavailable, () => ["http://127.0.0.1:1"]],
    ["one of two that is silent", unavailable, () => [anvil.url, silentUrl()]],
  ])("as there is %s, refuses a contract in time, and no key", async (_name, code, urls) => {
    const own = await openOwn(...urls());
    try {
      const signer = makeWallet();
      const address = await deploy(walletCode(signer.address));
      const before = performance.now();
      expect(refusalOf(await signIn({ address, signer, own }))).toBe(code);
      expect(performance.now() - before).toBeLessThan(hangLimitMs(answerMsMax));
      expect((await signIn({ address: signer.address, signer, own })).status).toBe(200);
    } finally {
      await own.close();
    }
  });

  test("by two providers that contradict one another lets nobody in", async () => {
    const log = openLog({ service: "tests", level: "warn" });
    const lagging = await startAnvil({ flags: ["--chain-id", String(chainId)], log });
    const own = await openOwn(anvil.url, lagging.url);
    try {
      const signer = makeWallet();
      const address = await deploy(walletCode(signer.address));
      expect(refusalOf(await signIn({ address, signer, own }))).toBe(refused);
    } finally {
      await own.close();
      await lagging.close();
    }
  });

  test("is not asked in place of another: the message's own chain counts", async () => {
    const signer = makeWallet();
    const address = await deploy(walletCode(signer.address));
    expect(refusalOf(await signIn({ address, signer, chain: 1 }))).toBe(refused);
    const own = await openRig({ rpcUrls: new Map([["1", [anvil.url]]]) });
    try {
      expect(refusalOf(await signIn({ address, signer, own, chain: 1 }))).toBe(unavailable);
    } finally {
      await own.close();
    }
  });
});
