import { TronWeb, utils } from "tronweb";
import { type Hex, keccak256, toFunctionSelector } from "viem";
import { tronAddressFromHex } from "@payment-links/chains/tron-address";
import {
  type WalletMethodHandler,
  WalletError,
  createNodeClient,
  createRecordedWallet,
} from "./wallet.ts";

type TronWalletOptions = {
  name?: string;
  announcesLate?: boolean;
  /**
   * The server with java-tron's JSON-RPC API, and the EVM node behind it, which signs and sends.
   */
  nodeUrl: string;
  evmUrl: string;
  /** The account in the EVM node's format. */
  account: string;
  /** Identifies the wallet's initial network: the end of its first block's hash. */
  chainNumber: number;
  /** The lifetime of the wallet's transactions. The default is 1 minute, as in tronweb. */
  lifetimeMs?: number;
  /** Whether the wallet only provides `window.tronLink`, as TronLink did before TIP-6963. */
  isLegacy?: boolean;
  /**
   * The origin that the wallet's `tronWeb` queries from within the page, like TronLink's. By
   * default, it does not send requests from the page.
   */
  nodeOrigin?: string;
};

type Transaction = {
  txID: string;
  raw_data_hex: string;
  raw_data: { expiration: number; timestamp: number };
};

/**
 * More gas than any call in these tests uses. It is not estimated, because some payments are meant
 * to fail.
 */
const gas = "0x7a120";
const balanceSun = 1_000_000_000;
const sunPerEnergy = 100;
/**
 * The gas that an EVM node charges for a transaction in addition to its execution. Tron counts only
 * the execution as energy.
 */
const intrinsicGas = 21_000;

const toSelector = (selector: string): Hex => toFunctionSelector(`function ${selector}`);

/** The methods of `tronWeb` that a page can call. */
const methods = [
  "transactionBuilder.triggerConstantContract",
  "transactionBuilder.triggerSmartContract",
  "trx.getAccountResources",
  "trx.getBlockByNumber",
  "trx.getChainParameters",
  "trx.getConfirmedCurrentBlock",
  "trx.getUnconfirmedBalance",
  "trx.getUnconfirmedTransactionInfo",
  "trx.sendRawTransaction",
  "trx.sign",
];

/** A contract call in the node's HTTP API. */
type Call = {
  contract_address: string;
  owner_address: string;
  function_selector: string;
  parameter: string;
  fee_limit: number;
};

const toEvmAddress = (hex: string): string => `0x${hex.replace(/^41/, "")}`;
const encodeCallData = ({ function_selector: selector, parameter }: Call): Hex =>
  `${toSelector(selector)}${parameter}`;
const toHex = (text: string): string => Buffer.from(text).toString("hex");

/**
 * Creates a Tron wallet for a user of the local chain. Its `tronWeb` is the real library, but the
 * wallet handles the library's HTTP requests to a node. It sends EVM transactions to the node
 * behind the chain and uses their hashes as transaction IDs. It has no energy, and enough coins for
 * every payment.
 */
export const createTronWallet = ({
  nodeUrl,
  evmUrl,
  account,
  chainNumber,
  lifetimeMs = 60_000,
  isLegacy = false,
  nodeOrigin,
  ...options
}: TronWalletOptions) => {
  const base58 = tronAddressFromHex(account);
  const callNode = createNodeClient(nodeUrl);
  const callEvmNode = createNodeClient(evmUrl);
  let currentChainNumber = chainNumber;
  let isConnected = false;
  const signedTransactions = new Map<string, unknown>();
  const readBlockTimeMs = async (tag: string): Promise<number> => {
    const block = await callNode("eth_getBlockByNumber", [tag, false]);
    return Number((block as { timestamp: string }).timestamp) * 1_000;
  };

  const buildTransaction = async (call: Call) => {
    const timestamp = await readBlockTimeMs("latest");
    const { contract_address, owner_address, fee_limit } = call;
    const value = { data: encodeCallData(call).slice(2), owner_address, contract_address };
    const type = "TriggerSmartContract";
    const type_url = `type.googleapis.com/protocol.${type}`;
    const raw_data = {
      contract: [{ parameter: { value, type_url }, type }],
      ref_block_bytes: "1a2b",
      ref_block_hash: "0011223344556677",
      expiration: timestamp + lifetimeMs,
      timestamp,
      fee_limit,
    };
    const pb = utils.transaction.txJsonToPb({ raw_data });
    const txID = utils.transaction.txPbToTxID(pb).replace("0x", "");
    const raw_data_hex = utils.transaction.txPbToRawDataHex(pb).toLowerCase();
    return { visible: false, txID, raw_data, raw_data_hex };
  };

  /** Signs a transaction for the EVM node. Returns its hash. */
  const signEvm = async (to: string, data: string): Promise<string> => {
    const nonce = await callEvmNode("eth_getTransactionCount", [account, "pending"]);
    const gasPrice = await callEvmNode("eth_gasPrice", []);
    const call = { from: account, to, data, gas, nonce, gasPrice };
    const rawTransaction = (await callEvmNode("eth_signTransaction", [call])) as Hex;
    const id = keccak256(rawTransaction).slice(2);
    signedTransactions.set(id, rawTransaction);
    return id;
  };

  const nodeHandlers: Record<string, (request: never) => unknown> = {
    "wallet/getblockbynum": () => ({ blockID: currentChainNumber.toString(16).padStart(64, "0") }),
    "walletsolidity/getnowblock": async () => ({
      block_header: { raw_data: { timestamp: await readBlockTimeMs("finalized") } },
    }),
    "wallet/getaccount": () => ({ balance: balanceSun }),
    "wallet/getaccountresource": () => ({}),
    "wallet/getchainparameters": () => ({
      chainParameter: [{ key: "getEnergyFee", value: sunPerEnergy }],
    }),
    "wallet/triggerconstantcontract": async (request: Call) => {
      const [from, to] = [
        toEvmAddress(request.owner_address),
        toEvmAddress(request.contract_address),
      ];
      const call = { from, to, data: encodeCallData(request) };
      try {
        const result = String(await callNode("eth_call", [call, "latest"])).slice(2);
        const energyUsed = Number(await callNode("eth_estimateGas", [call])) - intrinsicGas;
        return { result: { result: true }, constant_result: [result], energy_used: energyUsed };
      } catch {
        return { result: { result: true, message: toHex("REVERT opcode executed") } };
      }
    },
    "wallet/triggersmartcontract": async (request: Call) => ({
      result: { result: true },
      transaction: await buildTransaction(request),
    }),
    "wallet/broadcasttransaction": async ({ txID: txid, raw_data }: Transaction) => {
      if ((await readBlockTimeMs("latest")) >= raw_data.expiration) {
        return { code: "TRANSACTION_EXPIRATION_ERROR", txid };
      }
      await callEvmNode("eth_sendRawTransaction", [signedTransactions.get(txid)]);
      return { result: true, txid };
    },
    "wallet/gettransactioninfobyid": async ({ value: id }: { value: string }) => {
      const receipt = await callNode("eth_getTransactionReceipt", [id]);
      if (receipt === null) return {};
      const hasSucceeded = (receipt as { status: string }).status === "0x1";
      return { id, receipt: { result: hasSucceeded ? "SUCCESS" : "REVERT" } };
    },
  };
  const web = new TronWeb({ fullHost: "http://127.0.0.1:1" });
  web.setAddress(base58);
  const handleNodeRequest = async (path: string, request: unknown): Promise<never> => {
    const handler = nodeHandlers[path];
    if (handler === undefined) throw new Error(`the local Tron has no ${path}`);
    return (await handler(request as never)) as never;
  };
  web.fullNode.request = handleNodeRequest;
  web.solidityNode.request = handleNodeRequest;

  const ownMethods: Record<string, WalletMethodHandler> = {
    isOpen: () => isConnected,
    eth_requestAccounts: () => {
      isConnected = true;
      return [base58];
    },
    tron_requestAccounts: () => {
      isConnected = true;
      return { code: 200, message: "User allowed the request." };
    },
    wallet_switchEthereumChain: ([to]) => {
      currentChainNumber = Number((to as { chainId: string }).chainId);
      return null;
    },
    "transactionBuilder.triggerSmartContract": async (params) => {
      const args = params as Parameters<typeof web.transactionBuilder.triggerSmartContract>;
      const { transaction, ...result } = await web.transactionBuilder.triggerSmartContract(...args);
      const value = transaction.raw_data.contract[0]?.parameter.value;
      const { contract_address, data } = value as { contract_address: string; data: string };
      const txID = await signEvm(toEvmAddress(contract_address), `0x${data}`);
      return { ...result, transaction: { ...transaction, txID } };
    },
    "trx.sign": ([transaction]) => ({ ...(transaction as Transaction), signature: ["00"] }),
  };
  const handleRequest = (method: string, params: readonly unknown[]): unknown => {
    const handler = ownMethods[method];
    if (handler !== undefined) return handler(params);
    if (!methods.includes(method)) throw new WalletError(4200, `no such method ${method}`);
    const [namespace = "", name = ""] = method.split(".");
    const namespaces = web as unknown as Record<
      string,
      Record<string, (...args: unknown[]) => unknown>
    >;
    return namespaces[namespace]?.[name]?.(...params);
  };
  const wallet = createRecordedWallet({ ...options, callMethod: handleRequest });
  return {
    ...wallet,
    base58,
    tron: {
      account: base58,
      methods,
      isOld: isLegacy,
      ...(nodeOrigin !== undefined && { nodeOrigin }),
    },
    /** Handles an HTTP request to the wallet's node. */
    handleNodeRequest,
    /** Returns the transactions that the wallet was asked to sign, in order. */
    listSigningRequests: () =>
      wallet.requests
        .filter(({ method }) => method === "trx.sign")
        .map(({ params }) => (params?.[0] ?? {}) as Transaction),
    /** Returns the number of transactions that the wallet was asked to send. */
    countSent: () =>
      wallet.requests.filter(({ method }) => method === "trx.sendRawTransaction").length,
  };
};
export type TronWallet = ReturnType<typeof createTronWallet>;
