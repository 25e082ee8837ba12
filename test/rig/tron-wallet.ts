import { TronWeb, utils } from "tronweb";
import { type Hex, keccak256, toFunctionSelector } from "viem";
import { tronFromHex } from "@payment-links/contracts";
import { type Answer, WalletError, askNodeAt, openAsked } from "./wallet.ts";

type TronWalletOptions = {
  name?: string;
  announceAfterMs?: number;
  /** The front that speaks java-tron's dialect, and the EVM node behind it, which signs and sends. */
  nodeUrl: string;
  evmUrl: string;
  /** In the node's own form. */
  account: string;
  /** The end of the first block's hash, of the network that the wallet is on at first. */
  chainNumber: number;
  /** What a transaction of the wallet's lasts; a minute, as tronweb makes it, if not given. */
  lastsMs?: number;
  /** Has `window.tronLink` alone, as TronLink had before TIP-6963. */
  isOld?: boolean;
  /** The origin that its `tronWeb` asks from within the page, as TronLink's does; not the page if not given. */
  nodeOrigin?: string;
};

type Transaction = {
  txID: string;
  raw_data_hex: string;
  raw_data: { expiration: number; timestamp: number };
};

/** More than any call of these tests takes; it is not estimated, as a payment may be meant to fail. */
const gas = "0x7a120";
const coinsInSun = 1_000_000_000;
const sunPerEnergy = 100;
/** What any transaction takes on an EVM node besides its execution, which alone Tron counts as energy. */
const gasOfTransaction = 21_000;

const bytes4 = (selector: string): Hex => toFunctionSelector(`function ${selector}`);

/** The methods of `tronWeb` that a page may ask. */
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

/** What a node is asked for a call, in its HTTP API. */
type Call = {
  contract_address: string;
  owner_address: string;
  function_selector: string;
  parameter: string;
  fee_limit: number;
};

const evmForm = (hex: string): string => `0x${hex.replace(/^41/, "")}`;
const dataOf = ({ function_selector: selector, parameter }: Call): Hex =>
  `${bytes4(selector)}${parameter}`;
const inHex = (text: string): string => Buffer.from(text).toString("hex");

/**
 * A person's wallet for Tron over the local one. Its `tronWeb` is tronweb's own, and asks here what it asks
 * a node by HTTP; what it sends is a transaction of the EVM node behind, whose hash is the id. It has no
 * energy, and coins enough for all.
 */
export const openTronWallet = ({
  nodeUrl,
  evmUrl,
  account,
  chainNumber,
  lastsMs = 60_000,
  isOld = false,
  nodeOrigin,
  ...options
}: TronWalletOptions) => {
  const base58 = tronFromHex(account);
  const ask = askNodeAt(nodeUrl);
  const askEvm = askNodeAt(evmUrl);
  let onChain = chainNumber;
  let isOpen = false;
  const signed = new Map<string, unknown>();
  const timeOf = async (tag: string): Promise<number> => {
    const block = await ask("eth_getBlockByNumber", [tag, false]);
    return Number((block as { timestamp: string }).timestamp) * 1_000;
  };

  const make = async (call: Call) => {
    const timestamp = await timeOf("latest");
    const { contract_address, owner_address, fee_limit } = call;
    const value = { data: dataOf(call).slice(2), owner_address, contract_address };
    const type = "TriggerSmartContract";
    const type_url = `type.googleapis.com/protocol.${type}`;
    const raw_data = {
      contract: [{ parameter: { value, type_url }, type }],
      ref_block_bytes: "1a2b",
      ref_block_hash: "0011223344556677",
      expiration: timestamp + lastsMs,
      timestamp,
      fee_limit,
    };
    const pb = utils.transaction.txJsonToPb({ raw_data });
    const txID = utils.transaction.txPbToTxID(pb).replace("0x", "");
    const raw_data_hex = utils.transaction.txPbToRawDataHex(pb).toLowerCase();
    return { visible: false, txID, raw_data, raw_data_hex };
  };

  /** Signs what the node behind is to carry out; answers its hash. */
  const signEvm = async (to: string, data: string): Promise<string> => {
    const nonce = await askEvm("eth_getTransactionCount", [account, "pending"]);
    const gasPrice = await askEvm("eth_gasPrice", []);
    const call = { from: account, to, data, gas, nonce, gasPrice };
    const raw = (await askEvm("eth_signTransaction", [call])) as Hex;
    const id = keccak256(raw).slice(2);
    signed.set(id, raw);
    return id;
  };

  const nodeAnswers: Record<string, (asked: never) => unknown> = {
    "wallet/getblockbynum": () => ({ blockID: onChain.toString(16).padStart(64, "0") }),
    "walletsolidity/getnowblock": async () => ({
      block_header: { raw_data: { timestamp: await timeOf("finalized") } },
    }),
    "wallet/getaccount": () => ({ balance: coinsInSun }),
    "wallet/getaccountresource": () => ({}),
    "wallet/getchainparameters": () => ({
      chainParameter: [{ key: "getEnergyFee", value: sunPerEnergy }],
    }),
    "wallet/triggerconstantcontract": async (asked: Call) => {
      const [from, to] = [evmForm(asked.owner_address), evmForm(asked.contract_address)];
      const call = { from, to, data: dataOf(asked) };
      try {
        const result = String(await ask("eth_call", [call, "latest"])).slice(2);
        const used = Number(await ask("eth_estimateGas", [call])) - gasOfTransaction;
        return { result: { result: true }, constant_result: [result], energy_used: used };
      } catch {
        return { result: { result: true, message: inHex("REVERT opcode executed") } };
      }
    },
    "wallet/triggersmartcontract": async (asked: Call) => ({
      result: { result: true },
      transaction: await make(asked),
    }),
    "wallet/broadcasttransaction": async ({ txID: txid, raw_data }: Transaction) => {
      if ((await timeOf("latest")) >= raw_data.expiration) {
        return { code: "TRANSACTION_EXPIRATION_ERROR", txid };
      }
      await askEvm("eth_sendRawTransaction", [signed.get(txid)]);
      return { result: true, txid };
    },
    "wallet/gettransactioninfobyid": async ({ value: id }: { value: string }) => {
      const receipt = await ask("eth_getTransactionReceipt", [id]);
      if (receipt === null) return {};
      const isDone = (receipt as { status: string }).status === "0x1";
      return { id, receipt: { result: isDone ? "SUCCESS" : "REVERT" } };
    },
  };
  const web = new TronWeb({ fullHost: "http://127.0.0.1:1" });
  web.setAddress(base58);
  const answerNode = async (path: string, asked: unknown): Promise<never> => {
    const how = nodeAnswers[path];
    if (how === undefined) throw new Error(`the local Tron has no ${path}`);
    return (await how(asked as never)) as never;
  };
  web.fullNode.request = answerNode;
  web.solidityNode.request = answerNode;

  const own: Record<string, Answer> = {
    isOpen: () => isOpen,
    eth_requestAccounts: () => {
      isOpen = true;
      return [base58];
    },
    tron_requestAccounts: () => {
      isOpen = true;
      return { code: 200, message: "User allowed the request." };
    },
    wallet_switchEthereumChain: ([to]) => {
      onChain = Number((to as { chainId: string }).chainId);
      return null;
    },
    "transactionBuilder.triggerSmartContract": async (params) => {
      const all = params as Parameters<typeof web.transactionBuilder.triggerSmartContract>;
      const { transaction, ...made } = await web.transactionBuilder.triggerSmartContract(...all);
      const value = transaction.raw_data.contract[0]?.parameter.value;
      const { contract_address, data } = value as { contract_address: string; data: string };
      const txID = await signEvm(evmForm(contract_address), `0x${data}`);
      return { ...made, transaction: { ...transaction, txID } };
    },
    "trx.sign": ([transaction]) => ({ ...(transaction as Transaction), signature: ["00"] }),
  };
  const answer = (method: string, params: readonly unknown[]): unknown => {
    const how = own[method];
    if (how !== undefined) return how(params);
    if (!methods.includes(method)) throw new WalletError(4200, `no such method ${method}`);
    const [room = "", name = ""] = method.split(".");
    const rooms = web as unknown as Record<string, Record<string, (...all: unknown[]) => unknown>>;
    return rooms[room]?.[name]?.(...params);
  };
  const wallet = openAsked({ ...options, answer });
  return {
    ...wallet,
    base58,
    tron: { account: base58, methods, isOld, ...(nodeOrigin !== undefined && { nodeOrigin }) },
    /** What its node answers by HTTP. */
    answerNode,
    /** What it was asked to sign, in order. */
    toSign: () =>
      wallet.asked
        .filter(({ method }) => method === "trx.sign")
        .map(({ params }) => (params?.[0] ?? {}) as Transaction),
    /** How often it was asked to send something. */
    countSent: () =>
      wallet.asked.filter(({ method }) => method === "trx.sendRawTransaction").length,
  };
};
export type TronWallet = ReturnType<typeof openTronWallet>;
