// The wallet checkout for all chains: what it shows, what this browser stores about the payment,
// and when another payment can be requested. After a wallet was asked for a payment, a second one
// is not offered until the service, the chain or the payer reports that the first one will not
// happen. Everything from outside is rendered as text.

import "./page.js";
import { formatDecimal } from "./amounts.js";
import { followLink } from "./live.js";
import { createPaymentStore } from "./memory.js";
import { selectOption } from "./options.js";
import { startPageRefresh } from "./renew.js";
import { showStep } from "./stepper.js";
import {
  nothingSentKinds,
  toWalletError,
} from "@payment-links/chains/browser-wallets/wallet-errors.js";
import { sleep } from "@payment-links/chains/browser-wallets/waiting.js";

const find = (selector) => document.querySelector(selector);

/** The section in which the payer pays. Its data attributes contain data from the server. */
export const paymentSection = find("#pay");
const { link: linkId, symbol, chainName, coin } = paymentSection.dataset;
let { amount } = paymentSection.dataset;
export const texts = JSON.parse(paymentSection.dataset.texts);
const payButton = find("#wallet");
const walletActions = find("#wallet-actions");
const goneButton = find("#gone");
const otherMethodButton = find("#other-method");
const walletPicker = find("#wallets");
const confirmGoneDialog = find("#confirm-gone");

const chainPollMs = 4_000;
const approvalPollMs = 2_000;
const approvalPollsMax = 60;
/**
 * Some wallets never report that the user rejected a request. After this time the payer can declare
 * that the payment will not happen.
 */
const walletResponseMsUsual = 20_000;
const walletNameCharactersMax = 40;
const iconCharactersMax = 100_000;
const iconPixels = 24;

/** Formats an amount in base units as a decimal, in the visitor's locale. */
export const formatBaseUnits = (baseUnits, decimals = paymentSection.dataset.decimals) => {
  const digits = String(baseUnits).padStart(Number(decimals) + 1, "0");
  const pointIndex = digits.length - Number(decimals);
  const whole = digits.slice(0, pointIndex);
  const fraction = digits.slice(pointIndex).replace(/0+$/, "");
  return formatDecimal(fraction === "" ? whole : `${whole}.${fraction}`);
};

/** The shortened address of the paying account. It is empty until the account is known. */
let account = "";

export const fillPlaceholders = (text, values = {}) => {
  const valuesByName = {
    amount: formatDecimal(amount),
    symbol,
    chain: chainName,
    coin,
    account,
    ...values,
  };
  return text.replaceAll(/\{(\w+)\}/g, (placeholder, name) => valuesByName[name] ?? placeholder);
};

/** An error whose message is shown to the payer. */
export const UserFacingError = class extends Error {};
export const createUserFacingError = (text, values) =>
  new UserFacingError(fillPlaceholders(text, values));

export const shortenAddress = (address) => `${address.slice(0, 6)}…${address.slice(-4)}`;

const paymentStore = createPaymentStore(linkId);
export const readStoredState = paymentStore.readStoredState;
export const updateStoredState = paymentStore.updateStoredState;
export const isStoredPayment = paymentStore.isStoredPayment;

/** The functions that differ between chain families (see `startCheckout`). */
let chainAdapter;
let chosenWallet;

/** Returns the chosen wallet, the wallet that sent the stored payment, or the only wallet. */
export const findWallet = () => {
  const wallets = chainAdapter.listWallets();
  const { payment } = readStoredState();
  const previousWallet = payment && wallets.find(({ info }) => info.rdns === payment.wallet);
  return chosenWallet ?? previousWallet ?? (wallets.length === 1 ? wallets[0] : undefined);
};

// Rendering.

let link = { pendingPayments: JSON.parse(paymentSection.dataset.pending), payment: null };
let isBusy = false;
/** Whether the wallet has not responded to a payment request for some time. */
let isWalletUnresponsive = false;
/** Whether a block contains the payment. */
let isMined = false;
let isOffline = false;
let currentMessage;
/** The payments that the payer has declared as not happening. */
const dismissedPaymentIds = new Set();

export const setMined = (isPaymentMined) => {
  isMined = isPaymentMined;
};

const listPendingPayments = () =>
  link.pendingPayments.filter(({ id }) => !dismissedPaymentIds.has(id));

const toBaseUnits = (decimal) => {
  const [whole, fraction = ""] = decimal.split(".");
  return BigInt(whole + fraction.padEnd(Number(paymentSection.dataset.decimals), "0"));
};

/** Returns whether pending payments cover the remaining amount. */
const isAmountPending = () => {
  const pendingAmounts = listPendingPayments().map((payment) => toBaseUnits(payment.amount));
  return pendingAmounts.reduce((sum, pending) => sum + pending, 0n) >= toBaseUnits(amount);
};

const describePayment = ({ hash: transactionHash, isAsked, isTaken, isUncounted, isChanged }) => {
  if (transactionHash === undefined || isAsked) return isTaken ? texts.taken : texts.asked;
  const hash = chainAdapter.formatHash(transactionHash);
  if (isChanged) return fillPlaceholders(texts.changedByWallet, { hash });
  if (isUncounted) return fillPlaceholders(texts.uncounted, { hash });
  return fillPlaceholders(isMined ? texts.mined : texts.sent, { hash });
};

const describeState = () => {
  const { payment } = readStoredState();
  const [pendingPayment] = listPendingPayments();
  if (pendingPayment !== undefined) {
    return fillPlaceholders(texts.seen, { amount: formatDecimal(pendingPayment.amount) });
  }
  return payment === undefined ? "" : describePayment(payment);
};

/** Returns the current step of the payment, or undefined if there is none. */
const findStep = () => {
  const { payment } = readStoredState();
  if (listPendingPayments().length > 0) return "confirming";
  if (payment === undefined) return isBusy ? "confirm" : undefined;
  const { hash, isAsked, isTaken, isUncounted, isChanged } = payment;
  if (isUncounted || isChanged) return undefined;
  const isSent = isTaken || (hash !== undefined && !isAsked);
  if (!isSent) return "confirm";
  return isMined ? "confirming" : "sent";
};

export const render = () => {
  if (!paymentSection.isConnected) return;
  const wallets = chainAdapter.listWallets();
  const isSender = readStoredState().payment !== undefined;
  const isBlocked = isSender || listPendingPayments().length > 0;
  const isWaitingForWallet = isBusy && !isWalletUnresponsive;
  // While a payment is on its way, nothing on the page may invite another one.
  find("main").classList.toggle("covered", isBusy || isSender || isAmountPending());
  payButton.hidden = wallets.length === 0;
  payButton.disabled = isBusy || isBlocked;
  goneButton.hidden = isWaitingForWallet || !isSender;
  // No payment is stored yet, so the payer can leave the wallet's request and start again.
  otherMethodButton.hidden = !isBusy || isSender;
  const [firstApp, noWalletHint] = [find("#first-app"), find("#no-wallet")];
  if (firstApp !== null) firstApp.hidden = wallets.length > 0;
  noWalletHint.hidden = wallets.length > 0;
  selectOption(wallets.length > 0);
  // The current reason why the link cannot be paid is more important than the result of the last
  // click.
  const message = isBlocked && !isWaitingForWallet ? describeState() : (currentMessage ?? "");
  const text = isOffline ? `${message} ${texts.offline}` : message;
  if (find("#live").textContent !== text) find("#live").textContent = text;
  showStep(findStep(), listPendingPayments()[0]?.confirmations);
  if (!walletPicker.hidden) renderWalletPicker(wallets);
  renderExplorerLink(readStoredState().payment?.hash);
};

const renderExplorerLink = (hash) => {
  const explorerLink = find("#explorer");
  if (explorerLink === null) return;
  explorerLink.hidden = hash === undefined;
  if (hash === undefined) return;
  const formattedHash = encodeURIComponent(chainAdapter.formatHash(hash));
  explorerLink.href = explorerLink.dataset.explorer.replace("{}", formattedHash);
};

export const showMessage = (text) => {
  currentMessage = text;
  render();
};

const listedWallets = new Set();

/**
 * The icon of a wallet is untrusted, so it is only rendered if it is an embedded image of limited
 * size.
 */
const renderIcon = ({ icon }) => {
  const isAccepted =
    typeof icon === "string" && icon.startsWith("data:image/") && icon.length <= iconCharactersMax;
  if (!isAccepted) return [];
  const image = new Image(iconPixels, iconPixels);
  image.alt = "";
  image.src = icon;
  return [image];
};

/**
 * Adds a button for each new wallet. Buttons are not replaced, because that would take away the
 * keyboard focus.
 */
const renderWalletPicker = (wallets) => {
  for (const wallet of wallets.filter((knownWallet) => !listedWallets.has(knownWallet))) {
    listedWallets.add(wallet);
    const button = document.createElement("button");
    const nameElement = document.createElement("bdi");
    button.type = "button";
    const name = wallet.info.name.trim() || texts.browserWallet;
    nameElement.textContent = [...name].slice(0, walletNameCharactersMax).join("");
    button.append(...renderIcon(wallet.info), nameElement);
    button.addEventListener("click", () => {
      walletPicker.hidden = true;
      chosenWallet = wallet;
      void startPayment();
    });
    walletPicker.append(button);
  }
};

// The state of the stored payment in the service and on the chain.

const buildLinkUrl = (subpath = "") => {
  const { payment } = readStoredState();
  const query = payment?.hash === undefined ? "" : `?sourceTransaction=${payment.hash}`;
  return `/checkout/payment-links/${encodeURIComponent(linkId)}${subpath}${query}`;
};

const fetchLink = async () => {
  const response = await fetch(buildLinkUrl());
  if (!response.ok) throw createUserFacingError(texts.offline);
  return response.json();
};

/** Removes a payment that will not happen from the store and shows the reason. */
export const clearPayment = (payment, text) => {
  if (!isStoredPayment(payment)) return;
  updateStoredState({ payment: undefined, allowance: undefined });
  isMined = false;
  showMessage(text);
};

const applyServiceState = ({ payment: reportedPayment }, payment) => {
  if (
    reportedPayment?.sourceTransaction !== payment.hash ||
    reportedPayment.status === "processing"
  ) {
    return;
  }
  if (reportedPayment.status === "failed") clearPayment(payment, texts.failed);
  // An applied payment changes the link, so the refreshed page shows it.
  else if (reportedPayment.applied) clearPayment(payment, undefined);
  else updateStoredState({ payment: { ...payment, isUncounted: true } });
};

const applyLinkState = (state) => {
  link = state;
  const { payment } = readStoredState();
  if (payment?.hash !== undefined) applyServiceState(link, payment);
  render();
  void refreshPage();
};

const setOffline = (isServiceOffline) => {
  if (isOffline === isServiceOffline) return;
  isOffline = isServiceOffline;
  render();
};

/**
 * Preserves the parts that the script controls during a page refresh, because the script may be
 * waiting for a wallet's response.
 */
const preserveElements = (newMain) => {
  const newSection = newMain.querySelector("#pay");
  if (newSection === null) return;
  ({ amount } = newSection.dataset);
  payButton.replaceChildren(...newMain.querySelector("#wallet").childNodes);
  newMain.querySelector("#wallet-actions").replaceWith(walletActions);
  newSection.replaceWith(paymentSection);
};

const refreshPage = startPageRefresh({
  dataset: paymentSection.dataset,
  canPay: true,
  getLink: () => (link.status === undefined ? undefined : link),
  isRefreshBlocked: () => isBusy || confirmGoneDialog.open,
  preserveElements,
  onRefreshed: () => render(),
});

/** Polls the chain through the wallet until the service has seen the payment. */
const watchChain = async () => {
  for (;;) {
    await sleep(chainPollMs);
    if (document.hidden) continue;
    const { payment } = readStoredState();
    if (payment === undefined || link.payment !== null) continue;
    // An error of the wallet does not say anything about the payment.
    await chainAdapter.applyChainState(payment).catch(() => undefined);
  }
};

// Paying.

/** Fetches the current payment instructions before the user signs anything. */
export const fetchInstructions = async () => {
  link = await fetchLink();
  const { instructions } = link;
  if (instructions?.amount !== amount) throw createUserFacingError(texts.changed);
  if (readStoredState().payment !== undefined || listPendingPayments().length > 0) {
    throw new UserFacingError("");
  }
  return instructions;
};

/** Shows the account that pays. Throws if its balance is too low. */
export const checkBalance = (from, balance, { amountBaseUnits }, otherValues = {}) => {
  account = shortenAddress(from);
  const values = { balance: formatBaseUnits(balance), ...otherValues };
  find("#account").textContent = fillPlaceholders(texts.account, values);
  find("#account").hidden = false;
  if (balance < BigInt(amountBaseUnits)) throw createUserFacingError(texts.lacksToken, values);
};

/**
 * Waits until a block contains an approval transaction. `readApprovalResult` returns whether the
 * approval succeeded, or undefined until a block contains it.
 */
export const waitForApproval = async ({ hash }, readApprovalResult) => {
  showMessage(texts.allowing);
  for (let pollCount = 0; pollCount < approvalPollsMax; pollCount += 1) {
    const isSuccessful = await readApprovalResult(hash).catch(() => undefined);
    if (isSuccessful !== undefined) {
      updateStoredState({ allowance: undefined });
      if (isSuccessful) return;
      throw createUserFacingError(texts.allowanceRefused);
    }
    await sleep(approvalPollMs);
  }
  // An approval does not move money, so it can safely be sent twice.
  updateStoredState({ allowance: undefined });
  throw createUserFacingError(texts.allowanceWaits);
};

/** Lists the approval steps that are needed in addition to the current allowance. */
export const listApprovalSteps = ({ steps, amountBaseUnits }, allowance) =>
  allowance >= BigInt(amountBaseUnits)
    ? []
    : steps.filter(
        ({ kind }) => kind === "approve" || (kind === "reset_allowance" && allowance > 0n),
      );

/**
 * Stores the payment, requests it from the wallet, and adds the result to the stored payment. If an
 * error shows that the payment was not sent, it is removed. After other errors it may have been
 * sent.
 */
export const requestPayment = async (payment, sendToWallet) => {
  const latestLink = await fetchLink();
  if (readStoredState().payment !== undefined) throw createUserFacingError(texts.otherTab);
  if (latestLink.instructions?.amount !== amount) throw createUserFacingError(texts.changed);
  link = latestLink;
  if (listPendingPayments().length > 0) throw new UserFacingError("");
  const requestedPayment = { ...payment, wallet: chosenWallet.info.rdns };
  updateStoredState({ payment: requestedPayment });
  const timer = setTimeout(() => {
    isWalletUnresponsive = true;
    render();
  }, walletResponseMsUsual);
  try {
    updateStoredState({ payment: { ...requestedPayment, ...(await sendToWallet()) } });
  } catch (error) {
    if (!nothingSentKinds.has(error.kind)) {
      throw error instanceof UserFacingError ? error : new UserFacingError("");
    }
    updateStoredState({ payment: undefined });
    throw error;
  } finally {
    clearTimeout(timer);
    isWalletUnresponsive = false;
  }
};

/**
 * Runs a task under a lock that all tabs of this link share. Browsers that do not support locks
 * depend on the stored payment alone.
 */
const runInOneTab = (task) =>
  navigator.locks === undefined
    ? task()
    : navigator.locks.request(paymentStore.name, { ifAvailable: true }, (lock) => {
        if (lock === null) throw createUserFacingError(texts.otherTab);
        return task();
      });

/** The text for each kind of error. */
const errorTexts = {
  rejected: texts.rejected,
  busy: texts.busyWallet,
  locked: texts.notAllowed,
  unsupported: texts.cannotPay,
  networkMissing: texts.unknownNetwork,
  batchUnsupported: texts.cannotPay,
  lacksGas: texts.lacksGas,
  reverted: texts.blocked,
  unreachable: texts.chainDown,
  unknown: texts.walletFailed,
};

/**
 * Whether the page's content security policy blocked a request. A wallet that reads the chain from
 * within the page can only call allowed nodes. The browser reports a violation shortly after the
 * request failed.
 */
let isBlockedByPolicy = false;
const violationReportMsMax = 200;
document.addEventListener("securitypolicyviolation", ({ effectiveDirective }) => {
  if (effectiveDirective === "connect-src") isBlockedByPolicy = true;
});

const describeError = async ({ kind }) => {
  const mayBeBlocked = kind === "unreachable" || kind === "unknown";
  if (mayBeBlocked && !isBlockedByPolicy) await sleep(violationReportMsMax);
  if (mayBeBlocked && isBlockedByPolicy) return fillPlaceholders(texts.stopped);
  return fillPlaceholders(chainAdapter.errorTexts?.[kind] ?? errorTexts[kind]);
};

const startPayment = async () => {
  if (isBusy || readStoredState().payment !== undefined || listPendingPayments().length > 0) return;
  isBusy = true;
  isBlockedByPolicy = false;
  let errorMessage;
  render();
  // The button that had the focus is hidden now.
  find("#stepper").focus();
  try {
    await runInOneTab(() => chainAdapter.pay(chosenWallet));
  } catch (error) {
    errorMessage =
      error instanceof UserFacingError ? error.message : await describeError(toWalletError(error));
    // The payer can choose another wallet for the next attempt.
    chosenWallet = undefined;
  }
  isBusy = false;
  showMessage(errorMessage || undefined);
  if (find("#stepper").hidden) payButton.focus();
  updateConnection();
  void refreshPage();
};

let updateConnection;

/**
 * Starts the checkout with the functions of a chain family:
 * - `listWallets` lists the wallets, and `onWalletAnnounced` calls back when the list changes.
 * - `pay` pays with one of the wallets.
 * - `applyChainState` updates the stored payment with its state on the chain.
 * - `formatHash` (optional) formats a transaction hash.
 * - `errorTexts` (optional) overrides the texts for some kinds of errors.
 */
export const startCheckout = (adapter) => {
  chainAdapter = { formatHash: (hash) => hash, ...adapter };
  payButton.addEventListener("click", () => {
    chosenWallet = findWallet();
    if (chosenWallet !== undefined) return void startPayment();
    walletPicker.hidden = false;
    render();
    walletPicker.querySelector("button").focus();
  });

  otherMethodButton.addEventListener("click", () => location.reload());
  goneButton.addEventListener("click", () => confirmGoneDialog.showModal());
  confirmGoneDialog.addEventListener("close", () => {
    if (confirmGoneDialog.returnValue !== "gone") return;
    for (const { id } of link.pendingPayments) dismissedPaymentIds.add(id);
    clearPayment(readStoredState().payment ?? {}, undefined);
    showMessage(undefined);
    // Reloading the page ends a request to which the wallet never responded.
    if (isBusy) location.reload();
  });

  chainAdapter.onWalletAnnounced(render);
  // Another tab of this browser has changed the stored payment.
  window.addEventListener("storage", () => {
    render();
    updateConnection();
  });
  window.addEventListener("pageshow", ({ persisted }) => {
    if (persisted) location.reload();
  });

  render();
  updateConnection = followLink({
    getEventsUrl: () => buildLinkUrl("/events"),
    fetchState: fetchLink,
    onState: applyLinkState,
    setOffline,
  });
  void watchChain();
};
