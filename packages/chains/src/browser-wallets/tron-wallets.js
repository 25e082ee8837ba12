// The Tron wallets in this browser and the requests that a page sends to them, using TIP-1193 and
// TIP-6963 or TronLink's older `window.tronLink`. The chain is read with the `tronWeb` object that
// the wallet provides. This module does not depend on links and does not render anything.

import {
  WalletError,
  classifyWalletError,
  isDeclinedSignature,
  toWalletError,
} from "./wallet-errors.js";
import { withTimeout } from "./waiting.js";

const announcedWallets = new Map();

/** Calls back when another wallet is announced (TIP-6963 or TronLink's own event). */
export const onWalletAnnounced = (listener) => {
  window.addEventListener("TIP6963:announceProvider", ({ detail }) => {
    const { info, provider } = detail ?? {};
    if (typeof info?.name !== "string" || provider?.request === undefined) return;
    if (announcedWallets.has(info.uuid)) return;
    announcedWallets.set(info.uuid, detail);
    listener();
  });
  window.addEventListener("tronLink#initialized", listener);
  window.dispatchEvent(new Event("TIP6963:requestProvider"));
};

const unnamedInfo = { name: "", rdns: "" };
let injectedWallet;

/**
 * Lists the wallets that are known so far. A wallet that only injects itself into `window` does not
 * have a name.
 */
export const listWallets = () => {
  if (announcedWallets.size > 0) return [...announcedWallets.values()];
  const { tron, tronLink } = window;
  const provider = tron?.request === undefined ? tronLink : tron;
  if (provider?.request === undefined) return [];
  // This must be the same object each time, because callers compare wallets by identity.
  if (injectedWallet?.provider !== provider) {
    injectedWallet = { info: unnamedInfo, provider, isLegacy: provider !== tron };
  }
  return [injectedWallet];
};

/** TronLink returns this code if it is locked and already has a pending request. */
const lockedCode = -32000;

const sendRequest = async ({ provider }, method, params) => {
  try {
    return await provider.request({ method, ...(params && { params }) });
  } catch (error) {
    throw toWalletError(error, error?.code === lockedCode ? "locked" : "unknown");
  }
};

/**
 * Adds a timeout to a read from the wallet's node. If the kind of an error is unknown, it is
 * treated as an error of the node.
 */
const readFromNode = (promise) =>
  withTimeout(promise).catch((error) => {
    throw toWalletError(error, "unreachable");
  });

/**
 * Returns a wallet's `tronWeb` if the page is allowed to use an account of the wallet, or
 * undefined.
 */
export const getTronWeb = ({ provider, isLegacy }) => {
  const tronWeb = provider.tronWeb || (isLegacy && window.tronWeb);
  return tronWeb?.defaultAddress?.base58 ? tronWeb : undefined;
};

/** Requests access to an account and returns the wallet's `tronWeb`. */
export const connectWallet = async (wallet) => {
  if (wallet.isLegacy) {
    // The older method does not throw, but returns an error code.
    const kind = classifyWalletError(await sendRequest(wallet, "tron_requestAccounts"));
    if (kind !== "unknown") throw new WalletError(kind);
  } else {
    await sendRequest(wallet, "eth_requestAccounts");
  }
  const tronWeb = getTronWeb(wallet);
  // A locked wallet can accept the request, but it does not expose an account.
  if (tronWeb === undefined) throw new WalletError("locked");
  return tronWeb;
};

/**
 * Returns whether a wallet is on a chain. The chain id consists of the last 4 bytes of the genesis
 * block's hash.
 */
export const isOnChain = async (tronWeb, chainId) => {
  const { blockID } = await readFromNode(tronWeb.trx.getBlockByNumber(0));
  return BigInt(`0x${blockID.slice(-8)}`) === chainId;
};

/**
 * Switches a wallet to a chain and returns its `tronWeb`, or undefined if it stays on another
 * chain.
 */
export const switchToChain = async (wallet, chainId) => {
  const tronWeb = getTronWeb(wallet);
  if (tronWeb !== undefined && (await isOnChain(tronWeb, chainId))) return tronWeb;
  await requestChainSwitch(wallet, chainId).catch((error) => {
    if (error.kind === "rejected" || error.kind === "busy") throw error;
  });
  // The wallet provides a different `tronWeb` for each chain.
  const switchedTronWeb = getTronWeb(wallet);
  const isSwitched = switchedTronWeb !== undefined && (await isOnChain(switchedTronWeb, chainId));
  return isSwitched ? switchedTronWeb : undefined;
};

/** Requests that the wallet switches to another chain. Older wallets do not support this. */
const requestChainSwitch = async (wallet, chainId) => {
  if (wallet.isLegacy) return;
  await sendRequest(wallet, "wallet_switchEthereumChain", [
    { chainId: `0x${chainId.toString(16)}` },
  ]);
};

const callToken = async (tronWeb, token, selector, owner, otherAddresses = []) => {
  const parameters = [owner, ...otherAddresses].map((value) => ({ type: "address", value }));
  const call = tronWeb.transactionBuilder.triggerConstantContract(
    token,
    selector,
    {},
    parameters,
    owner,
  );
  const { constant_result: resultWords } = await readFromNode(call);
  return BigInt(`0x${resultWords[0]}`);
};

/** TRC-20 `balanceOf(owner)`. */
export const readBalance = (tronWeb, token, owner) =>
  callToken(tronWeb, token, "balanceOf(address)", owner);

/** TRC-20 `allowance(owner, spender)`. */
export const readAllowance = (tronWeb, token, owner, spender) =>
  callToken(tronWeb, token, "allowance(address,address)", owner, [spender]);

/**
 * Reads an account's balance in sun, its available energy, and the price of a unit of energy in
 * sun.
 */
export const readAccountResources = async (tronWeb, owner) => {
  const [balance, { EnergyLimit = 0, EnergyUsed = 0 }, parameters] = await readFromNode(
    Promise.all([
      tronWeb.trx.getUnconfirmedBalance(owner),
      tronWeb.trx.getAccountResources(owner),
      tronWeb.trx.getChainParameters(),
    ]),
  );
  const energyPrice = parameters.find(({ key }) => key === "getEnergyFee").value;
  const energy = Math.max(0, EnergyLimit - EnergyUsed);
  return {
    balanceSun: BigInt(balance),
    energy: BigInt(energy),
    energyPriceSun: BigInt(energyPrice),
  };
};

/** Simulates a step and returns the energy that it needs. Throws if the call would fail. */
export const estimateEnergy = async (tronWeb, { to, tron }, from) => {
  const { functionSelector, parameter: rawParameter } = tron;
  const options = { callValue: 0, rawParameter };
  const { energy_used: energy } = await readFromNode(
    tronWeb.transactionBuilder.triggerConstantContract(to, functionSelector, options, [], from),
  );
  return BigInt(energy);
};

/** Builds the transaction of a step with the wallet's `tronWeb`. */
export const buildTransaction = async (tronWeb, { to, tron }, from) => {
  const { functionSelector, parameter: rawParameter, feeLimit } = tron;
  const options = { feeLimit: Number(feeLimit), callValue: 0, rawParameter };
  const data = await readFromNode(
    tronWeb.transactionBuilder.triggerSmartContract(to, functionSelector, options, [], from),
  );
  return data.transaction;
};

/**
 * Asks the user to sign a transaction, which is not sent yet. Waits as long as the transaction is
 * valid. This duration is computed from the times in the transaction, because this device's clock
 * can be wrong.
 */
export const signTransaction = async (tronWeb, transaction) => {
  const { expiration, timestamp } = transaction.raw_data;
  try {
    const lifetimeMs = expiration - timestamp;
    return await withTimeout(
      tronWeb.trx.sign(transaction),
      lifetimeMs,
      new WalletError("unanswered"),
    );
  } catch (error) {
    throw toWalletError(error, isDeclinedSignature(error) ? "rejected" : "unknown");
  }
};

/**
 * The error codes with which a node rejects a transaction. After any other error the node may have
 * accepted it.
 */
const rejectionKindsByCode = new Map([
  ["SIGERROR", "nodeRefused"],
  ["CONTRACT_VALIDATE_ERROR", "nodeRefused"],
  ["CONTRACT_EXE_ERROR", "nodeRefused"],
  ["TAPOS_ERROR", "nodeRefused"],
  ["TOO_BIG_TRANSACTION_ERROR", "nodeRefused"],
  ["BANDWITH_ERROR", "lacksBandwidth"],
  ["TRANSACTION_EXPIRATION_ERROR", "late"],
]);

/** Sends a signed transaction to the wallet's node. */
export const broadcastTransaction = async (tronWeb, signedTransaction) => {
  const result = await withTimeout(tronWeb.trx.sendRawTransaction(signedTransaction));
  if (result?.result === true || result?.code === "DUP_TRANSACTION_ERROR") return;
  throw new WalletError(rejectionKindsByCode.get(result?.code) ?? "unknown");
};

/**
 * Reads the result of a transaction. Returns its execution result, or "EXPIRED" if no block
 * contains it and none can contain it later. Returns undefined while a block can still include it.
 * A solid block is final, and no block after the transaction's expiration can contain it.
 */
export const readTransactionResult = async (tronWeb, hash, expiresAt) => {
  const solidBlock = await readFromNode(tronWeb.trx.getConfirmedCurrentBlock());
  const info = await readFromNode(tronWeb.trx.getUnconfirmedTransactionInfo(hash));
  if (info?.id !== undefined) return info.receipt?.result ?? "SUCCESS";
  return solidBlock.block_header.raw_data.timestamp > expiresAt ? "EXPIRED" : undefined;
};
