import {
  type Abi,
  type Hex,
  concat,
  createPublicClient,
  encodeDeployData,
  encodeFunctionData,
  getContractAddress,
  http,
  maxUint256,
  parseAbi,
} from "viem";
import { toEip55 } from "@payment-links/chains";
import {
  type CatalogueData,
  type CatalogueToken,
  devnet,
  devnetSeed,
  loadCatalogue,
} from "@payment-links/contracts";
import { type Log, createLog } from "@payment-links/runtime";
import { deployContracts } from "./deploy-contracts.ts";
import { startAnvil } from "./start-anvil.ts";
import { compileContracts } from "./compile-contracts.ts";

const mnemonicAccounts = [
  "0xf39Fd6e51aad88F6F4ce6aB8827279cffFb92266",
  "0x70997970C51812dc3A010C7d01b50e0d17dc79C8",
  "0x3C44CdDdB6a900fa2b585dd299e03d12FA4293BC",
  "0x90F79bf6EB2c4f870365E785982E1f101E93b906",
] as const;
const [deployer, ...payers] = mnemonicAccounts;

const defaultChainId = "1337";

/**
 * More gas than any test needs. It is not estimated, because an estimate would reject calls that
 * are meant to fail in a block.
 */
const gas = "0x7a120";
/** The additional gas per payment in a transaction with several payments. */
const gasPerPayment = 100_000;
const initialBalance = 10n ** 30n;
const historyStatesMax = 512;

const erc20Abi = parseAbi([
  "constructor(string symbol, uint8 decimals)",
  "function mint(address to, uint256 value)",
  "function transfer(address to, uint256 value)",
  "function approve(address spender, uint256 value)",
  "function balanceOf(address) view returns (uint256)",
  "function blockAccount(address account)",
]);
const feeProxyAbi = parseAbi([
  "function transferFromWithReferenceAndFee(address token, address to, uint256 amount, bytes paymentReference, uint256 feeAmount, address feeAddress)",
]);
const ethereumFeeProxyAbi = parseAbi([
  "function transferWithReferenceAndFee(address to, bytes paymentReference, uint256 feeAmount, address feeAddress) payable",
]);
const batchPayerAbi = parseAbi([
  "struct PaymentOrder { address token; address to; uint256 amount; bytes paymentReference; }",
  "function pay(address proxy, PaymentOrder[] payments)",
]);
const contractWalletAbi = parseAbi(["function execute(address[] to, bytes[] data)"]);
const transferEventAbi = parseAbi([
  "event Transfer(address indexed from, address indexed to, uint256 value)",
]);

/** The test tokens, in the order in which they are deployed after the test USDC. */
const tokenSources = {
  coin18: { contract: "PlainToken", symbol: "COIN18", decimals: 18 },
  other6: { contract: "PlainToken", symbol: "OTHER", decimals: 6 },
  fee: { contract: "FeeOnTransferToken", symbol: "FEE", decimals: 6 },
  idle: { contract: "IdleToken", symbol: "IDLE", decimals: 6 },
  silent: { contract: "SilentToken", symbol: "SILENT", decimals: 6 },
  blocking: { contract: "BlockingToken", symbol: "BLOCK", decimals: 6 },
  /** A working token that is not in the catalogue. */
  unlisted: { contract: "PlainToken", symbol: "UNLISTED", decimals: 6 },
  /** A look-alike of the test USDC. */
  bridged: { contract: "PlainToken", symbol: "USDC.e", decimals: 6 },
} as const;
export type TokenName = "usdc" | keyof typeof tokenSources;

/** The tokens that take a suffix according to the catalogue, in addition to the test USDC. */
const suffixTokens: ReadonlySet<string> = new Set(["other6", "fee"]);

/**
 * An order to pay a link. Amounts are in base units, and `reference` is the link's reference in
 * hex.
 */
export type PaymentOrder = {
  reference: string;
  to: string;
  amount: bigint;
  token?: TokenName;
  /** The index of the payer. The default is the first one. */
  payer?: 0 | 1 | 2;
};

type ChainOptions = {
  /**
   * The number of blocks by which `safe` lags behind the head. `finalized` lags by twice as many.
   */
  slotsInEpoch?: number;
  /** The chain id. By default, it is one for which there are no settings. */
  chainId?: string;
  log?: Log;
};

/** A signed transaction, and the position of the block on the fork that mines it again. */
export type ReminedTransaction = { raw: Hex; offset: number };

/**
 * Starts a new EVM node with the fee proxies, correct and faulty tokens, and funded payers with
 * sufficient allowances. Blocks are mined only on request.
 */
export const startEvmChain = async ({
  slotsInEpoch = 32,
  chainId = defaultChainId,
  log = createLog({ service: "chain", level: "fatal" }),
}: ChainOptions = {}) => {
  const flags = ["--chain-id", chainId, "--slots-in-an-epoch", String(slotsInEpoch)];
  const anvil = await startAnvil({
    flags: [...flags, "--prune-history", String(historyStatesMax)],
    log,
  });
  const client = createPublicClient({ transport: http(anvil.url), cacheTime: 0 });
  const callRpc = async (method: string, params: readonly unknown[] = []): Promise<unknown> => {
    // viem has no types for anvil's own methods.
    const request: (call: { method: string; params: readonly unknown[] }) => Promise<unknown> =
      client.request as never;
    return await request({ method, params });
  };
  const send = async (call: {
    from: string;
    to?: string;
    data?: Hex;
    value?: Hex;
    gas?: Hex;
  }): Promise<Hex> => (await callRpc("eth_sendTransaction", [{ gas, ...call }])) as Hex;
  const mine = async (count = 1): Promise<void> => {
    for (let index = 0; index < count; index += 1) await callRpc("evm_mine");
  };

  await deployContracts(anvil.url);
  await callRpc("evm_setAutomine", [false]);
  const tokens = await deployTokens({ send, mine, nonce: 3 });
  const { fakeProxy, batch, fickle, wallet } = await deployPayers({
    send,
    mine,
    nonce: 3 + tokens.size - 1,
  });
  await fund({ send, mine, tokens });
  const getTokenAddress = (token: TokenName): Hex => tokens.get(token) ?? "0x";

  const encodePayment = ({ reference, to, amount, token = "usdc" }: PaymentOrder): Hex =>
    encodeFunctionData({
      abi: feeProxyAbi,
      args: [getTokenAddress(token), to as Hex, amount, `0x${reference}`, 0n, zeroAddress],
    });
  const encodeSuffixTransfer = ({ reference, to, amount }: PaymentOrder): Hex =>
    concat([
      encodeFunctionData({ abi: erc20Abi, functionName: "transfer", args: [to as Hex, amount] }),
      `0x${reference}`,
    ]);
  const readHeadNumber = async (): Promise<number> => Number(await client.getBlockNumber());

  return {
    url: anvil.url,
    chainId,
    /** The data of the chain and its tokens for the catalogue. */
    catalogueData: createCatalogueData(chainId, tokens),
    client,
    callRpc,
    mine,
    getTokenAddress,
    readHeadNumber,
    /** Pays through the real proxy without mining a block. Returns the transaction's hash. */
    pay: (payment: PaymentOrder): Promise<Hex> =>
      send({
        from: payers[payment.payer ?? 0],
        to: devnet.erc20FeeProxy,
        data: encodePayment(payment),
      }),
    /**
     * Pays with a token transfer whose calldata has the reference after the arguments. A test can
     * modify the calldata.
     */
    payBySuffix: (
      payment: PaymentOrder,
      modify: (data: Hex) => Hex = (data) => data,
    ): Promise<Hex> =>
      send({
        from: payers[payment.payer ?? 0],
        to: getTokenAddress(payment.token ?? "usdc"),
        data: modify(encodeSuffixTransfer(payment)),
      }),
    /** Makes several such transfers in one transaction, from a contract that holds tokens. */
    payBySuffixInOneTransaction: (payments: readonly PaymentOrder[]): Promise<Hex> =>
      send({
        from: payers[0],
        to: wallet,
        data: encodeFunctionData({
          abi: contractWalletAbi,
          args: [
            payments.map(({ token = "usdc" }) => getTokenAddress(token)),
            payments.map(encodeSuffixTransfer),
          ],
        }),
      }),
    /**
     * Sends a token without a reference. The test USDC comes from a payer, and other tokens are
     * minted.
     */
    transferToken: ({ to, amount, token = "usdc", payer = 0 }: Omit<PaymentOrder, "reference">) =>
      token === "usdc"
        ? send({
            from: payers[payer],
            to: getTokenAddress(token),
            data: encodeFunctionData({
              abi: erc20Abi,
              functionName: "transfer",
              args: [to as Hex, amount],
            }),
          })
        : send({
            from: deployer,
            to: getTokenAddress(token),
            data: encodeFunctionData({
              abi: erc20Abi,
              functionName: "mint",
              args: [to as Hex, amount],
            }),
          }),
    /** The addresses of the payers. */
    payers,
    /**
     * Makes the same call to a contract that emits the proxy's event but does not transfer
     * anything.
     */
    payFakeProxy: (payment: PaymentOrder): Promise<Hex> =>
      send({ from: payers[payment.payer ?? 0], to: fakeProxy, data: encodePayment(payment) }),
    /** Makes several payments in one transaction, as a smart account does. */
    payInOneTransaction: (
      payments: readonly PaymentOrder[],
      /** A fickle payer emits an additional log in blocks with an odd number. */
      { isFickle = false } = {},
    ): Promise<Hex> =>
      send({
        from: payers[0],
        gas: `0x${(Number(gas) + payments.length * gasPerPayment).toString(16)}`,
        to: isFickle ? fickle : batch,
        data: encodeFunctionData({
          abi: batchPayerAbi,
          args: [
            devnet.erc20FeeProxy,
            payments.map(({ token = "usdc", to, amount, reference }) => ({
              token: getTokenAddress(token),
              to: to as Hex,
              amount,
              paymentReference: `0x${reference}` as const,
            })),
          ],
        }),
      }),
    /** Pays the chain's native coin through its proxy. */
    payCoin: ({ reference, to, amount }: Omit<PaymentOrder, "token">): Promise<Hex> =>
      send({
        from: payers[0],
        to: devnet.ethereumFeeProxy,
        value: `0x${amount.toString(16)}`,
        data: encodeFunctionData({
          abi: ethereumFeeProxyAbi,
          args: [to as Hex, `0x${reference}`, 0n, zeroAddress],
        }),
      }),
    /** Adds an account to the blocklist of the blocking token. */
    blockAccount: async (account: string): Promise<void> => {
      const data = encodeFunctionData({
        abi: erc20Abi,
        functionName: "blockAccount",
        args: [account as Hex],
      });
      await send({ from: deployer, to: getTokenAddress("blocking"), data });
    },
    /**
     * Replaces a pending transaction with a transfer to itself. The replacement has the same sender
     * and nonce and a higher gas price.
     */
    replace: async (hash: Hex): Promise<Hex> => {
      const { from, nonce, gasPrice = 0n } = await client.getTransaction({ hash });
      const higherGasPrice = `0x${(gasPrice * 3n + 1n).toString(16)}`;
      return (await callRpc("eth_sendTransaction", [
        { from, to: from, gas, nonce: `0x${nonce.toString(16)}`, gasPrice: higherGasPrice },
      ])) as Hex;
    },
    /** Returns the signed bytes of a mined transaction. */
    readRawTransaction: async (hash: Hex): Promise<Hex> =>
      (await callRpc("eth_getRawTransactionByHash", [hash])) as Hex,
    /**
     * Replaces the newest blocks with a fork of the same length, which mines the given transactions
     * again.
     */
    reorg: async (
      depth: number,
      transactions: readonly ReminedTransaction[] = [],
    ): Promise<void> => {
      await callRpc("anvil_reorg", [depth, transactions.map(({ raw, offset }) => [raw, offset])]);
    },
    /** Sets the time of the next block, in Unix seconds. Later blocks continue from there. */
    setNextBlockTime: (seconds: number) => callRpc("evm_setNextBlockTimestamp", [seconds]),
    /** Returns how much an address received up to a block, according to the token's own events. */
    readReceived: async (to: string, token: TokenName, toBlock: number) => {
      const logs = await client.getLogs({
        address: getTokenAddress(token),
        event: transferEventAbi[0],
        args: { to: to as Hex },
        fromBlock: 0n,
        toBlock: BigInt(toBlock),
      });
      const amount = logs.reduce((sum, log) => sum + (log.args.value ?? 0n), 0n);
      return { amount, count: logs.length };
    },
    close: () => anvil.close(),
  };
};
export type LocalEvmChain = Awaited<ReturnType<typeof startEvmChain>>;

type ChainActions = {
  send: (call: { from: string; to?: string; data?: Hex }) => Promise<Hex>;
  mine: () => Promise<void>;
};

const zeroAddress = "0x0000000000000000000000000000000000000000";
/** The address that stands for the native coin, which has no contract. */
const coinAddress = "0xEeeeeEeeeEeEeeEeEeEeeEEEeeeeEeeeeeeeEEeE";
const from = deployer;

const deployTokens = async ({
  send,
  mine,
  nonce,
}: ChainActions & { nonce: number }): Promise<Map<TokenName, Hex>> => {
  const bytecodes = await compileContracts(new URL("contracts/tokens.sol", import.meta.url));
  const tokens = new Map<TokenName, Hex>([["usdc", devnet.token]]);
  for (const [name, { contract, symbol, decimals }] of Object.entries(tokenSources)) {
    const bytecode = getBytecode(bytecodes, contract);
    const isPlain = contract === "PlainToken";
    const data = isPlain
      ? encodeDeployData({ abi: erc20Abi, bytecode, args: [symbol, decimals] })
      : bytecode;
    await send({ from, data });
    tokens.set(name as TokenName, computeContractAddress(nonce + tokens.size - 1));
  }
  await mine();
  return tokens;
};

const deployPayers = async ({ send, mine, nonce }: ChainActions & { nonce: number }) => {
  const bytecodes = await compileContracts(new URL("contracts/payers.sol", import.meta.url));
  await send({ from, data: getBytecode(bytecodes, "FakeProxy") });
  await send({ from, data: getBytecode(bytecodes, "BatchPayer") });
  await send({ from, data: getBytecode(bytecodes, "FicklePayer") });
  await send({ from, data: getBytecode(bytecodes, "ContractWallet") });
  await mine();
  return {
    fakeProxy: computeContractAddress(nonce),
    batch: computeContractAddress(nonce + 1),
    fickle: computeContractAddress(nonce + 2),
    wallet: computeContractAddress(nonce + 3),
  };
};

/** Funds all accounts with every token and allows the proxy to transfer the payers' tokens. */
const fund = async ({ send, mine, tokens }: ChainActions & { tokens: Map<TokenName, Hex> }) => {
  const batch = computeContractAddress(3 + tokens.size);
  const fickle = computeContractAddress(4 + tokens.size);
  const wallet = computeContractAddress(5 + tokens.size);
  for (const to of tokens.values()) {
    for (const holder of [...payers, batch, fickle, wallet]) {
      await send({ from, to, data: encodeTokenCall("mint", holder) });
    }
    for (const payer of payers) {
      await send({ from: payer, to, data: encodeTokenCall("approve", devnet.erc20FeeProxy) });
    }
    await mine();
  }
};

const encodeTokenCall = (functionName: "mint" | "approve", account: Hex): Hex =>
  encodeFunctionData({
    abi: erc20Abi satisfies Abi,
    functionName,
    args: [account, functionName === "mint" ? initialBalance : maxUint256],
  });

const computeContractAddress = (nonce: number): Hex =>
  getContractAddress({ from: deployer, nonce: BigInt(nonce) });

const getBytecode = (bytecodes: Record<string, Hex>, contract: string): Hex => {
  const code = bytecodes[contract];
  if (code === undefined) throw new Error(`there is no contract ${contract}`);
  return code;
};

/**
 * Creates the data for the catalogue: the development chain with the given id, its native coin, and
 * all test tokens except the unlisted one. The id of a token is its name. If the chain id is not
 * the default, the chain id follows the name.
 */
const createCatalogueData = (
  chainId: string,
  tokens: ReadonlyMap<TokenName, Hex>,
): CatalogueData => {
  const seed = loadCatalogue(undefined, [devnetSeed]);
  const usdc = seed.findToken(devnet.tokenId);
  if (usdc === undefined) throw new Error("the catalogue has no development chain");
  const { chain: seedChain, takesSuffix, ...seedToken } = usdc;
  const chain = { ...seedChain, id: chainId, caip2: `eip155:${chainId}` };
  const toTokenId = (id: string): string => (chainId === defaultChainId ? id : `${id}-${chainId}`);
  const usdcToken = { ...seedToken, chainId, id: toTokenId("usdc") };
  const otherTokens = Object.entries(tokenSources)
    .filter(([name]) => name !== "unlisted")
    .map(([name, { symbol, decimals }]): Omit<CatalogueToken, "chain"> => ({
      ...usdcToken,
      id: toTokenId(name),
      address: toEip55(tokens.get(name as TokenName) ?? ""),
      symbol,
      name: symbol,
      decimals,
      ...(suffixTokens.has(name) && takesSuffix && { takesSuffix }),
      ...(name === "bridged" && { lookalikeOf: usdcToken.id }),
    }));
  const coin = {
    ...usdcToken,
    id: toTokenId("coin"),
    address: coinAddress,
    symbol: chain.symbol,
    decimals: 18,
  };
  return {
    chains: [chain],
    tokens: [
      { ...usdcToken, ...(takesSuffix && { takesSuffix }) },
      ...otherTokens,
      { ...coin, name: "Coin", isNative: true, isStablecoin: false },
    ],
  };
};
