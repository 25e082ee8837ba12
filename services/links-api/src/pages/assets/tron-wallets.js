// The wallets for Tron of this browser, and what a page may ask them: TIP-1193 and TIP-6963, and TronLink's
// own `window.tronLink` from before these. All that concerns the chain is asked through the `tronWeb` that a
// wallet brings along. It knows nothing of links, and shows nothing.

import { WalletFault, classify, isDeclinedSignature, toFault } from "./wallet-errors.js";
import { inTime } from "./waiting.js";

// Wallets make themselves known as on EVM chains, under another name.

const announced = new Map();

/** Calls back whenever another wallet has made itself known. */
export const onWallet = (hear) => {
  window.addEventListener("TIP6963:announceProvider", ({ detail }) => {
    const { info, provider } = detail ?? {};
    if (typeof info?.name !== "string" || provider?.request === undefined) return;
    if (announced.has(info.uuid)) return;
    announced.set(info.uuid, detail);
    hear();
  });
  window.addEventListener("tronLink#initialized", hear);
  window.dispatchEvent(new Event("TIP6963:requestProvider"));
};

const unnamed = { name: "", rdns: "" };
let former;

/** The wallets that are known by now; one of the old kinds has no name. */
export const listWallets = () => {
  if (announced.size > 0) return [...announced.values()];
  const { tron, tronLink } = window;
  const provider = tron?.request === undefined ? tronLink : tron;
  if (provider?.request === undefined) return [];
  // The same one each time, as a page tells wallets apart.
  if (former?.provider !== provider) former = { info: unnamed, provider, isOld: provider !== tron };
  return [former];
};

/** TronLink answers so while it is locked and was asked a moment before. */
const lockedCode = -32000;

const ask = async ({ provider }, method, params) => {
  try {
    return await provider.request({ method, ...(params && { params }) });
  } catch (error) {
    throw toFault(error, error?.code === lockedCode ? "locked" : "unknown");
  }
};

/** Reads by the wallet's node. An error that nobody understands is the node's. */
const read = (answer) =>
  inTime(answer).catch((error) => {
    throw toFault(error, "unreachable");
  });

/** The `tronWeb` of a wallet that lets this page use an account; undefined before. */
export const webOf = ({ provider, isOld }) => {
  const web = provider.tronWeb || (isOld && window.tronWeb);
  return web?.defaultAddress?.base58 ? web : undefined;
};

/** Asks for an account; answers the wallet's `tronWeb`. */
export const connect = async (wallet) => {
  if (wallet.isOld) {
    // It answers with a code instead of throwing one.
    const kind = classify(await ask(wallet, "tron_requestAccounts"));
    if (kind !== "unknown") throw new WalletFault(kind);
  } else {
    await ask(wallet, "eth_requestAccounts");
  }
  const web = webOf(wallet);
  // One that is locked answers nothing, and names no account.
  if (web === undefined) throw new WalletFault("locked");
  return web;
};

/** Whether a wallet is on a chain, whose number is the end of its first block's hash. */
export const isOnChain = async (web, number) => {
  const { blockID } = await read(web.trx.getBlockByNumber(0));
  return BigInt(`0x${blockID.slice(-8)}`) === number;
};

/** Asks a wallet to change to a chain; older ones cannot be asked. */
export const askForChain = async (wallet, number) => {
  if (wallet.isOld) return;
  await ask(wallet, "wallet_switchEthereumChain", [{ chainId: `0x${number.toString(16)}` }]);
};

const callToken = async (web, token, selector, owner, others = []) => {
  const parameters = [owner, ...others].map((value) => ({ type: "address", value }));
  const call = web.transactionBuilder.triggerConstantContract(
    token,
    selector,
    {},
    parameters,
    owner,
  );
  const { constant_result: words } = await read(call);
  return BigInt(`0x${words[0]}`);
};

/** TRC-20 `balanceOf(owner)`. */
export const readBalance = (web, token, owner) =>
  callToken(web, token, "balanceOf(address)", owner);

/** TRC-20 `allowance(owner, spender)`. */
export const readAllowance = (web, token, owner, spender) =>
  callToken(web, token, "allowance(address,address)", owner, [spender]);

/** An account's coins in sun, its energy, and the price of energy in sun. */
export const readMeans = async (web, owner) => {
  const [coins, { EnergyLimit = 0, EnergyUsed = 0 }, parameters] = await read(
    Promise.all([
      web.trx.getUnconfirmedBalance(owner),
      web.trx.getAccountResources(owner),
      web.trx.getChainParameters(),
    ]),
  );
  const price = parameters.find(({ key }) => key === "getEnergyFee").value;
  const energy = Math.max(0, EnergyLimit - EnergyUsed);
  return { coins: BigInt(coins), energy: BigInt(energy), price: BigInt(price) };
};

/** The energy that a step of the server's takes as the chain is now. A call that would fail is an error. */
export const tryOut = async (web, { to, tron }, from) => {
  const { functionSelector, parameter: rawParameter } = tron;
  const options = { callValue: 0, rawParameter };
  const { energy_used: energy } = await read(
    web.transactionBuilder.triggerConstantContract(to, functionSelector, options, [], from),
  );
  return BigInt(energy);
};

/** Has the wallet make a transaction of a step of the server's. */
export const build = async (web, { to, tron }, from) => {
  const { functionSelector, parameter: rawParameter, feeLimit } = tron;
  const options = { feeLimit: Number(feeLimit), callValue: 0, rawParameter };
  const data = await read(
    web.transactionBuilder.triggerSmartContract(to, functionSelector, options, [], from),
  );
  return data.transaction;
};

/**
 * Has a person sign; nothing is sent by it. It waits as long as the transaction lasts, by no clock but the
 * chain's and this device's own seconds.
 */
export const sign = async (web, transaction) => {
  const { expiration, timestamp } = transaction.raw_data;
  try {
    const lastsMs = expiration - timestamp;
    return await inTime(web.trx.sign(transaction), lastsMs, new WalletFault("unanswered"));
  } catch (error) {
    throw toFault(error, isDeclinedSignature(error) ? "rejected" : "unknown");
  }
};

/** With these a node says that it did not take a transaction. After any other it may have. */
const refusals = new Map([
  ["SIGERROR", "nodeRefused"],
  ["CONTRACT_VALIDATE_ERROR", "nodeRefused"],
  ["CONTRACT_EXE_ERROR", "nodeRefused"],
  ["TAPOS_ERROR", "nodeRefused"],
  ["TOO_BIG_TRANSACTION_ERROR", "nodeRefused"],
  ["BANDWITH_ERROR", "lacksBandwidth"],
  ["TRANSACTION_EXPIRATION_ERROR", "late"],
]);

/** Hands a signed transaction to the wallet's node. */
export const broadcast = async (web, signed) => {
  const answer = await inTime(web.trx.sendRawTransaction(signed));
  if (answer?.result === true || answer?.code === "DUP_TRANSACTION_ERROR") return;
  throw new WalletFault(refusals.get(answer?.code) ?? "unknown");
};

/**
 * What became of a transaction: the result of its execution, "EXPIRED" where no block has it and none can
 * any more, undefined while it may still come. A block that is solid stays, and none behind one of the time
 * at which a transaction expires may have it.
 */
export const readOutcome = async (web, hash, expiresAt) => {
  const solid = await read(web.trx.getConfirmedCurrentBlock());
  const info = await read(web.trx.getUnconfirmedTransactionInfo(hash));
  if (info?.id !== undefined) return info.receipt?.result ?? "SUCCESS";
  return solid.block_header.raw_data.timestamp > expiresAt ? "EXPIRED" : undefined;
};
