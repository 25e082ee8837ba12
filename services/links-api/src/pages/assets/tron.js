// The script of the checkout page for Tron chains. It pays with a wallet in the browser. Tron does
// not have nonces. A transaction has its id before it is signed, and no block includes it after its
// expiration.

import {
  checkBalance,
  clearPayment,
  createUserFacingError,
  fetchInstructions,
  fillPlaceholders,
  findWallet,
  formatBaseUnits,
  isStoredPayment,
  listApprovalSteps,
  paymentSection,
  readStoredState,
  render,
  requestPayment,
  setMined,
  shortenAddress,
  showMessage,
  startCheckout,
  texts,
  updateStoredState,
  waitForApproval,
} from "./till.js";
import { matchesStep } from "@payment-links/chains/browser-wallets/tron-transaction.js";
import {
  broadcastTransaction,
  buildTransaction,
  connectWallet,
  estimateEnergy,
  getTronWeb,
  isOnChain,
  listWallets,
  onWalletAnnounced,
  readAccountResources,
  readAllowance,
  readBalance,
  readTransactionResult,
  signTransaction,
  switchToChain,
} from "@payment-links/chains/browser-wallets/tron-wallets.js";
import { WalletError } from "@payment-links/chains/browser-wallets/wallet-errors.js";

const { token, caip2 } = paymentSection.dataset;
const chainId = BigInt(caip2.slice("tron:".length));
const trxDecimals = 6;

const formatTrx = (sun) => formatBaseUnits(sun, trxDecimals);
/** The service and Ethereum-compatible Tron nodes add the prefix 0x to hashes. Wallets do not. */
const formatHash = (hash) => hash.slice("0x".length);

// The state of the stored payment on the chain.

const failureTexts = { EXPIRED: texts.expired, OUT_OF_ENERGY: texts.outOfEnergy };

const applyChainState = async (payment) => {
  const wallet = findWallet();
  const tronWeb = wallet && getTronWeb(wallet);
  if (tronWeb === undefined || payment.hash === undefined) return;
  if (!(await isOnChain(tronWeb, chainId))) return;
  const result = await readTransactionResult(tronWeb, formatHash(payment.hash), payment.expiresAt);
  if (!isStoredPayment(payment)) return;
  if (result === undefined) return;
  if (result !== "SUCCESS") return clearPayment(payment, failureTexts[result] ?? texts.refused);
  setMined(true);
  // The transaction is on the chain, whatever the wallet's response was.
  updateStoredState({ payment: { ...readStoredState().payment, isAsked: false } });
  render();
};

// Paying.

const checkFunds = async (tronWeb, from, instructions) => {
  showMessage(texts.checking);
  const [tokenBalance, { balanceSun, energy }] = await Promise.all([
    readBalance(tronWeb, token, from),
    readAccountResources(tronWeb, from),
  ]);
  const values = { coins: formatTrx(balanceSun), energy: formatBaseUnits(energy, 0) };
  checkBalance(from, tokenBalance, instructions, values);
};

/**
 * Estimates the current fee of a step. Returns the fee and the fee limit as formatted text. Throws
 * if the account cannot pay the fee or if the limit is too low.
 */
const estimateFee = async (tronWeb, from, step) => {
  const energyNeeded = await estimateEnergy(tronWeb, step, from);
  const { balanceSun, energy, energyPriceSun } = await readAccountResources(tronWeb, from);
  const costSun = energyNeeded > energy ? (energyNeeded - energy) * energyPriceSun : 0n;
  const limitSun = BigInt(step.tron.feeLimit);
  const values = {
    cost: formatTrx(costSun),
    limit: formatTrx(limitSun),
    needed: formatBaseUnits(energyNeeded, 0),
  };
  if (energyNeeded * energyPriceSun > limitSun) throw createUserFacingError(texts.tooDear, values);
  if (balanceSun < costSun) {
    throw createUserFacingError(texts.lacksGas, {
      ...values,
      account: shortenAddress(from),
      coins: formatTrx(balanceSun),
    });
  }
  return values;
};

/**
 * Shows the user what to sign and its fee, lets the wallet build the transaction, and verifies it.
 */
const prepareTransaction = async (tronWeb, from, step, message) => {
  const feeValues = await estimateFee(tronWeb, from, step);
  showMessage(fillPlaceholders(`${message} ${texts.fee}`, feeValues));
  const transaction = await buildTransaction(tronWeb, step, from);
  if (!matchesStep(transaction, step, from)) throw new WalletError("different");
  return transaction;
};

/**
 * Signs and broadcasts a step. `isStillWanted` is called after the signature and returns whether
 * the transaction is still to be broadcast.
 */
const signAndBroadcast = async (tronWeb, transaction, isStillWanted = () => true) => {
  const signing = signTransaction(tronWeb, transaction);
  await signing.catch(() => undefined);
  if (!isStillWanted()) throw createUserFacingError(texts.expired);
  const signedTransaction = await signing;
  if (
    signedTransaction.raw_data_hex !== transaction.raw_data_hex ||
    signedTransaction.txID !== transaction.txID
  ) {
    throw new WalletError("different");
  }
  await broadcastTransaction(tronWeb, signedTransaction);
};

/**
 * Creates the function that `waitForApproval` calls to find out whether an approval transaction
 * succeeded. It returns undefined until the result is certain.
 */
const createApprovalResultReader = (tronWeb, expiresAt) => async (hash) => {
  const result = await readTransactionResult(tronWeb, hash, expiresAt);
  return result === undefined ? undefined : result === "SUCCESS";
};

const findMissingApprovals = async (tronWeb, from, instructions) => {
  const { allowance: sentApproval } = readStoredState();
  if (sentApproval !== undefined) {
    await waitForApproval(
      sentApproval,
      createApprovalResultReader(tronWeb, sentApproval.expiresAt),
    );
  }
  const { proxyAddress } = instructions;
  const allowance = await readAllowance(tronWeb, token, from, proxyAddress);
  return listApprovalSteps(instructions, allowance);
};

const sendApprovals = async (tronWeb, from, approvalSteps) => {
  for (const [index, step] of approvalSteps.entries()) {
    const message = fillPlaceholders(texts.allow, {
      step: index + 1,
      steps: approvalSteps.length + 1,
    });
    const transaction = await prepareTransaction(tronWeb, from, step, message);
    await signAndBroadcast(tronWeb, transaction);
    const approval = { hash: transaction.txID, expiresAt: transaction.raw_data.expiration };
    updateStoredState({ allowance: approval });
    await waitForApproval(approval, createApprovalResultReader(tronWeb, approval.expiresAt));
  }
};

const sendPayment = async (tronWeb, transaction, from) => {
  const hash = `0x${transaction.txID.toLowerCase()}`;
  const payment = { from, hash, expiresAt: transaction.raw_data.expiration, isAsked: true };
  await requestPayment(payment, async () => {
    await signAndBroadcast(tronWeb, transaction, () => isStoredPayment(payment));
    return { isAsked: false };
  });
};

const pay = async (wallet) => {
  showMessage(texts.connecting);
  await connectWallet(wallet);
  const tronWeb = await switchToChain(wallet, chainId);
  if (tronWeb === undefined) throw createUserFacingError(texts.wrongNetwork);
  const from = tronWeb.defaultAddress.base58;
  const instructions = await fetchInstructions();
  await checkFunds(tronWeb, from, instructions);
  const approvalSteps = await findMissingApprovals(tronWeb, from, instructions);
  await sendApprovals(tronWeb, from, approvalSteps);
  const stepCount = approvalSteps.length + 1;
  const message =
    stepCount === 1
      ? texts.confirm
      : fillPlaceholders(texts.payStep, { step: stepCount, steps: stepCount });
  const transaction = await prepareTransaction(tronWeb, from, instructions.steps.at(-1), message);
  await sendPayment(tronWeb, transaction, from);
};

/**
 * The texts for errors on Tron, by kind. After "unanswered" the user can still sign, but the
 * transaction has expired by then and no block includes it.
 */
const errorTexts = {
  lacksGas: texts.lacksBandwidth,
  lacksBandwidth: texts.lacksBandwidth,
  different: texts.different,
  nodeRefused: texts.nodeRefused,
  late: texts.late,
  unanswered: texts.unanswered,
};

startCheckout({
  listWallets,
  onWalletAnnounced,
  applyChainState,
  formatHash,
  pay,
  errorTexts,
});
