// The script of the checkout page for EVM chains. It pays with a wallet in the browser.

import { isCallWithAttributions } from "./attributions.js";
import {
  checkBalance,
  clearPayment,
  createUserFacingError,
  fetchInstructions,
  fillPlaceholders,
  findWallet,
  isStoredPayment,
  listApprovalSteps,
  paymentSection,
  readStoredState,
  render,
  requestPayment,
  setMined,
  showMessage,
  startCheckout,
  texts,
  updateStoredState,
  waitForApproval,
} from "./till.js";
import { WalletError } from "@payment-links/chains/browser-wallets/wallet-errors.js";
import {
  createBatchId,
  findTransactionByNonce,
  isExternallyOwnedAccount,
  listWallets,
  onWalletAnnounced,
  readAllowance,
  readBalance,
  readBatch,
  readCapabilities,
  sendBatch,
  sendWalletRequest,
  switchOrAddChain,
  toTransactionRequest,
} from "@payment-links/chains/browser-wallets/evm-wallets.js";

const { chain: chainId, chainName, coin, token, rpc } = paymentSection.dataset;
const chain = { id: chainId, name: chainName, coin, rpc };

/** The wallet that the payer pays with. */
let payingWallet;

const sendRequest = (method, ...params) => sendWalletRequest(payingWallet, method, params);

// The state of the stored payment on the chain.

/**
 * Returns whether a payment is a direct transfer by the token contract. Such a transfer identifies
 * its link only by the suffix of its calldata.
 */
const isDirectTransfer = ({ to }) => to !== undefined && to.toLowerCase() === token.toLowerCase();

const isCallTo = (transaction, { to }, isExpectedInput) =>
  transaction.to?.toLowerCase() === to.toLowerCase() && isExpectedInput(transaction.input);

/**
 * Returns whether a transaction moves a payment's money. Calldata after the arguments of a call
 * does not matter, because contracts ignore it.
 */
const executesPayment = (transaction, payment) => {
  const call = isDirectTransfer(payment)
    ? payment.data.slice(0, transferCalldataLength)
    : payment.data;
  return isCallTo(transaction, payment, (input) => input.startsWith(call));
};
/** The length in characters of "0x", the selector and the two arguments of `transfer`. */
const transferCalldataLength = "0x".length + 2 * (4 + 32 + 32);

/**
 * Returns whether the service can match a transfer to its link. It can if the calldata is unchanged
 * except for attributions that a wallet appended.
 */
const referencesLink = (transaction, payment) =>
  isCallTo(transaction, payment, (input) => isCallWithAttributions(input, payment.data));

/**
 * Applies the state of a batch. Only the wallet knows this state, because the wallet decides who
 * sends the batch and in which transactions. If the wallet does not know the batch, it may still be
 * waiting for its user.
 */
const applyBatchState = async (wallet, payment) => {
  const { status, hash, isReverted } = await readBatch(wallet, payment.batch);
  if (!isStoredPayment(payment)) return;
  if (status >= 400 && status < 500) return clearPayment(payment, texts.failed);
  // The last call is the payment, so a batch that was executed in part (6xx) may have paid.
  if ((status >= 500 && status < 600) || (status >= 600 && isReverted)) {
    return clearPayment(payment, texts.refused);
  }
  setMined(status >= 200);
  if (status >= 100) {
    updateStoredState({ payment: { ...payment, isTaken: true, hash: hash ?? payment.hash } });
  }
  render();
};

/**
 * Marks a payment whose calldata the wallet has changed. The money was sent, but without the
 * reference to the link.
 */
const verifyCalldata = async (wallet, payment) => {
  const transaction = await sendWalletRequest(wallet, "eth_getTransactionByHash", [payment.hash]);
  if (!transaction || referencesLink(transaction, payment) || !isStoredPayment(payment)) return;
  updateStoredState({ payment: { ...payment, isChanged: true } });
};

/**
 * Applies the state of the payment on its chain. If the wallet has sped up the payment, the payment
 * has a new hash.
 */
const applyChainState = async (payment) => {
  const wallet = findWallet();
  if (wallet === undefined) return;
  if (payment.batch !== undefined) return applyBatchState(wallet, payment);
  if (payment.hash === undefined) return;
  if (BigInt(await sendWalletRequest(wallet, "eth_chainId", [])) !== BigInt(chainId)) return;
  const receipt = await sendWalletRequest(wallet, "eth_getTransactionReceipt", [payment.hash]);
  setMined(receipt !== null);
  if (receipt && BigInt(receipt.status) === 0n) return clearPayment(payment, texts.refused);
  if (receipt && isDirectTransfer(payment)) await verifyCalldata(wallet, payment);
  if (receipt || payment.nonce === undefined) return render();
  const transaction = await findTransactionByNonce(wallet, payment);
  if (transaction === undefined || transaction.hash === payment.hash) return;
  if (!isStoredPayment(payment)) return;
  if (executesPayment(transaction, payment)) {
    updateStoredState({ payment: { ...payment, hash: transaction.hash } });
  } else clearPayment(payment, texts.replaced);
};

// Paying.

const requireChain = async () => {
  if (!(await switchOrAddChain(payingWallet, chain))) {
    throw createUserFacingError(texts.wrongNetwork);
  }
};

/** Simulates a step before the user signs anything. Returns the gas that it needs. */
const estimateGas = (from, step) =>
  sendRequest("eth_estimateGas", toTransactionRequest(from, step));

const checkGasFunds = async (from, step) => {
  const gas = await estimateGas(from, step);
  const [gasPrice, balance] = [
    await sendRequest("eth_gasPrice"),
    await sendRequest("eth_getBalance", from, "latest"),
  ];
  if (BigInt(balance) < BigInt(step.value) + BigInt(gas) * BigInt(gasPrice)) {
    throw new WalletError("lacksGas");
  }
};

/** Returns whether an approval transaction succeeded, or undefined until it is in a block. */
const readApprovalResult = async (hash) => {
  const receipt = await sendRequest("eth_getTransactionReceipt", hash);
  return receipt ? BigInt(receipt.status) === 1n : undefined;
};

const findMissingApprovals = async (from, instructions) => {
  if (instructions.steps.length === 1) return [];
  const { allowance: sentApproval } = readStoredState();
  if (sentApproval !== undefined) await waitForApproval(sentApproval, readApprovalResult);
  const { proxyAddress } = instructions;
  const allowance = await readAllowance(payingWallet, token, from, proxyAddress);
  return listApprovalSteps(instructions, allowance);
};

const sendApprovals = async (from, approvalSteps) => {
  if (approvalSteps.length > 0) await checkGasFunds(from, approvalSteps[0]);
  for (const [index, step] of approvalSteps.entries()) {
    showMessage(
      fillPlaceholders(texts.allow, { step: index + 1, steps: approvalSteps.length + 1 }),
    );
    const hash = await sendRequest("eth_sendTransaction", toTransactionRequest(from, step));
    updateStoredState({ allowance: { hash } });
    await waitForApproval({ hash }, readApprovalResult);
  }
};

const sendPayment = async (from, step) => {
  const [nonce, block] = await Promise.all([
    sendRequest("eth_getTransactionCount", from, "pending").then(Number),
    sendRequest("eth_blockNumber").then(Number),
  ]);
  const { to, data } = step;
  await requestPayment({ from, to, data, nonce, block }, async () => {
    const hash = await sendRequest("eth_sendTransaction", toTransactionRequest(from, step));
    return { hash: hash.toLowerCase() };
  });
};

/**
 * Approves and pays in one batch. Returns false if the wallet does not support batches. Does not
 * check whether the account can pay for gas, because the fee can be paid in a token or by a
 * sponsor. The wallet shows the fee and checks it.
 */
const payInBatch = async (from, steps, { canBatch }) => {
  if (!canBatch) return false;
  await estimateGas(from, steps[0]);
  await requireChain();
  showMessage(texts.confirmBoth);
  const id = createBatchId();
  try {
    await requestPayment({ batch: id }, async () => {
      const batch = await sendBatch(payingWallet, { id, from, chainId, steps });
      return { batch, isTaken: true };
    });
    return true;
  } catch (error) {
    if (error.kind === "batchUnsupported" || error.kind === "unsupported") return false;
    throw error;
  }
};

/**
 * Returns the single transfer that pays without an approval, or undefined if the link cannot be
 * paid in this way. Contract accounts cannot use it, because they can wrap the transfer in another
 * call, which hides the reference to the link. A wallet that reports capabilities may have such an
 * account.
 */
const findDirectTransferStep = async (from, { ways }, { isReported }) => {
  const way = ways.find(({ kind }) => kind === "suffix");
  if (way === undefined || isReported) return undefined;
  const isEoa = await isExternallyOwnedAccount(payingWallet, from).catch(() => false);
  return isEoa ? way.steps[0] : undefined;
};

const payWithStep = async (from, step, message) => {
  await checkGasFunds(from, step);
  await requireChain();
  showMessage(message);
  await sendPayment(from, step);
};

const pay = async (wallet) => {
  payingWallet = wallet;
  showMessage(texts.connecting);
  const [from] = await sendRequest("eth_requestAccounts");
  if (from === undefined) throw createUserFacingError(texts.rejected);
  await requireChain();
  const instructions = await fetchInstructions();
  showMessage(texts.checking);
  checkBalance(from, await readBalance(payingWallet, token, from), instructions);
  const approvalSteps = await findMissingApprovals(from, instructions);
  const paymentStep = instructions.steps.at(-1);
  const stepCount = approvalSteps.length + 1;
  if (stepCount === 1) return payWithStep(from, paymentStep, texts.confirm);
  const capabilities = await readCapabilities(payingWallet, from, chainId);
  if (await payInBatch(from, [...approvalSteps, paymentStep], capabilities)) return;
  const directStep = await findDirectTransferStep(from, instructions, capabilities);
  if (directStep !== undefined) return payWithStep(from, directStep, texts.confirm);
  await sendApprovals(from, approvalSteps);
  const message = fillPlaceholders(texts.payStep, { step: stepCount, steps: stepCount });
  await payWithStep(from, paymentStep, message);
};

startCheckout({ listWallets, onWalletAnnounced, applyChainState, pay });
