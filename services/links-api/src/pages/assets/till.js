// What every checkout has that pays by a wallet, whatever the chain: what it shows, what this browser
// remembers of the payment, and when another one may be asked for. Once a wallet was asked for a payment,
// no second one is offered until the service, the chain or the person says that the first is gone.
// Everything that came from outside is put into the page as text.

import "./page.js";
import { grouped } from "./amounts.js";
import { follow } from "./live.js";
import { openMemory } from "./memory.js";
import { keepNew } from "./renew.js";
import { nothingSent, toFault } from "./wallet-errors.js";
import { pause } from "./waiting.js";

const find = (selector) => document.querySelector(selector);

/** The section that pays, with all that the server says of it. */
export const section = find("#pay");
const { link: linkId, symbol, chainName, coin } = section.dataset;
let { amount } = section.dataset;
export const texts = JSON.parse(section.dataset.texts);
const payButton = find("#wallet");
const goneButton = find("#gone");
const picker = find("#wallets");
const dialog = find("#confirm-gone");

const pollMs = 4_000;
const receiptPollMs = 2_000;
const receiptTriesMax = 60;
/** Some wallets never report a rejection: after this long the payer may say what became of the payment. */
const answerMsUsual = 20_000;
const nameCharactersMax = 40;
const iconCharactersMax = 100_000;
const iconPixels = 24;

/** Base units as a person reads them. */
export const fromBaseUnits = (units, decimals = section.dataset.decimals) => {
  const digits = String(units).padStart(Number(decimals) + 1, "0");
  const at = digits.length - Number(decimals);
  const fraction = digits.slice(at).replace(/0+$/, "");
  return grouped(fraction === "" ? digits.slice(0, at) : `${digits.slice(0, at)}.${fraction}`);
};

/** The account that is to pay, once it is known. */
let account = "";

export const fill = (text, values = {}) => {
  const all = { amount: grouped(amount), symbol, chain: chainName, coin, account, ...values };
  return text.replaceAll(/\{(\w+)\}/g, (place, name) => all[name] ?? place);
};

/** An error whose text is for the payer. */
export const Told = class extends Error {};
export const tell = (text, values) => new Told(fill(text, values));

export const short = (address) => `${address.slice(0, 6)}…${address.slice(-4)}`;

const memory = openMemory(linkId);
export const recall = memory.recall;
export const remember = memory.remember;
export const isRemembered = memory.isRemembered;

// Paying takes one wallet.

/** What differs from one family of chains to another. */
let family;
let chosen;

/** The wallet that was chosen, or that paid before, or the only one. */
export const findWallet = () => {
  const wallets = family.listWallets();
  const { payment } = recall();
  const former = payment && wallets.find(({ info }) => info.rdns === payment.wallet);
  return chosen ?? former ?? (wallets.length === 1 ? wallets[0] : undefined);
};

// What the page shows.

let link = { pendingPayments: JSON.parse(section.dataset.pending), payment: null };
let isBusy = false;
/** Whether a wallet that was asked for a payment has not answered for a while. */
let isUnanswered = false;
let isMined = false;
let isOffline = false;
let said;
const released = new Set();

/** Whether a block has the payment. */
export const setMined = (is) => {
  isMined = is;
};

const listSeen = () => link.pendingPayments.filter(({ id }) => !released.has(id));

const textOfPayment = ({ hash: known, isAsked, isTaken, isUncounted, isChanged }) => {
  if (known === undefined || isAsked) return isTaken ? texts.taken : texts.asked;
  const hash = family.showHash(known);
  if (isChanged) return fill(texts.changedByWallet, { hash });
  if (isUncounted) return fill(texts.uncounted, { hash });
  return fill(isMined ? texts.mined : texts.sent, { hash });
};

const textOfState = () => {
  const { payment } = recall();
  const [seen] = listSeen();
  if (seen !== undefined) return fill(texts.seen, { amount: grouped(seen.amount) });
  return payment === undefined ? "" : textOfPayment(payment);
};

export const render = () => {
  if (!section.isConnected) return;
  const wallets = family.listWallets();
  const isBlocked = recall().payment !== undefined || listSeen().length > 0;
  const isWaiting = isBusy && !isUnanswered;
  payButton.hidden = wallets.length === 0;
  payButton.disabled = isBusy || isBlocked;
  goneButton.hidden = isWaiting || !isBlocked;
  find("#no-wallet").hidden = wallets.length > 0;
  // What keeps from paying is said before what became of the last click.
  const words = isBlocked && !isWaiting ? textOfState() : (said ?? "");
  const text = isOffline ? `${words} ${texts.offline}` : words;
  if (find("#live").textContent !== text) find("#live").textContent = text;
  showConfirming(listSeen()[0]);
  if (!picker.hidden) showPicker(wallets);
  showExplorer(recall().payment?.hash);
};

/** Apart from what is read out, as it changes with every block. */
const showConfirming = (seen) => {
  const place = find("#confirming");
  const text = seen?.confirmations ? fill(texts.confirming, seen.confirmations) : "";
  place.hidden = text === "";
  if (place.textContent !== text) place.textContent = text;
};

const showExplorer = (hash) => {
  const explorer = find("#explorer");
  if (explorer === null) return;
  explorer.hidden = hash === undefined;
  if (hash === undefined) return;
  const shown = encodeURIComponent(family.showHash(hash));
  explorer.href = explorer.dataset.explorer.replace("{}", shown);
};

export const say = (text) => {
  said = text;
  render();
};

const offered = new Set();

/** A wallet's icon is a stranger's: only an image that it brings along, of bounded size, is shown. */
const showIcon = ({ icon }) => {
  const isShown =
    typeof icon === "string" && icon.startsWith("data:image/") && icon.length <= iconCharactersMax;
  if (!isShown) return [];
  const image = new Image(iconPixels, iconPixels);
  image.alt = "";
  image.src = icon;
  return [image];
};

/** Who chooses by keyboard keeps their place: nothing that is there is put there again. */
const showPicker = (wallets) => {
  for (const wallet of wallets.filter((one) => !offered.has(one))) {
    offered.add(wallet);
    const button = document.createElement("button");
    const name = document.createElement("bdi");
    button.type = "button";
    const own = wallet.info.name.trim() || texts.browserWallet;
    name.textContent = [...own].slice(0, nameCharactersMax).join("");
    button.append(...showIcon(wallet.info), name);
    button.addEventListener("click", () => {
      picker.hidden = true;
      chosen = wallet;
      void payOnce();
    });
    picker.append(button);
  }
};

// What the service and the chain say of the remembered payment.

const addressOf = (part = "") => {
  const { payment } = recall();
  const query = payment?.hash === undefined ? "" : `?sourceTransaction=${payment.hash}`;
  return `/checkout/payment-links/${encodeURIComponent(linkId)}${part}${query}`;
};

const readLink = async () => {
  const answer = await fetch(addressOf());
  if (!answer.ok) throw tell(texts.offline);
  return answer.json();
};

/** Forgets a payment that is gone, and says why. */
export const endPayment = (payment, text) => {
  if (!isRemembered(payment)) return;
  remember({ payment: undefined, allowance: undefined });
  isMined = false;
  say(text);
};

const hearService = ({ payment: found }, payment) => {
  if (found?.sourceTransaction !== payment.hash || found.status === "processing") return;
  if (found.status === "failed") endPayment(payment, texts.failed);
  // What counts has changed the link, and its page says so.
  else if (found.applied) endPayment(payment, undefined);
  else remember({ payment: { ...payment, isUncounted: true } });
};

const hear = (state) => {
  link = state;
  const { payment } = recall();
  if (payment?.hash !== undefined) hearService(link, payment);
  render();
  void renew();
};

const setOffline = (is) => {
  if (isOffline === is) return;
  isOffline = is;
  render();
};

/** What pays stays: it knows what it asked a wallet for. */
const keep = (main) => {
  const pay = main.querySelector("#pay");
  if (pay === null) return;
  ({ amount } = pay.dataset);
  payButton.replaceChildren(...pay.querySelector("#wallet").childNodes);
  pay.replaceWith(section);
};

const renew = keepNew({
  dataset: section.dataset,
  isPaidHere: true,
  link: () => (link.status === undefined ? undefined : link),
  isHeld: () => isBusy || dialog.open,
  keep,
  renewed: () => {
    dress();
    render();
  },
});

/** What the service cannot know, the wallet's chain may. */
const watch = async () => {
  for (;;) {
    await pause(pollMs);
    if (document.hidden) continue;
    const { payment } = recall();
    if (payment === undefined || link.payment !== null) continue;
    // A wallet that does not answer says nothing of the payment.
    await family.hearChain(payment).catch(() => undefined);
  }
};

// Paying.

/** Reads how the link is paid by now, before anything is signed. */
export const readInstructions = async () => {
  link = await readLink();
  const { instructions } = link;
  if (instructions?.amount !== amount) throw tell(texts.changed);
  if (recall().payment !== undefined || listSeen().length > 0) throw new Told("");
  return instructions;
};

/** Shows the account that is to pay, and refuses one that has too little. */
export const checkBalance = (from, units, { amountBaseUnits }, more = {}) => {
  account = short(from);
  const values = { balance: fromBaseUnits(units), ...more };
  find("#account").textContent = fill(texts.account, values);
  find("#account").hidden = false;
  if (units < BigInt(amountBaseUnits)) throw tell(texts.lacksToken, values);
};

/** Waits until an allowance is in a block; `isDone` answers whether it was carried out, undefined until then. */
export const waitForAllowance = async ({ hash }, isDone) => {
  say(texts.allowing);
  for (let tries = 0; tries < receiptTriesMax; tries += 1) {
    const is = await isDone(hash).catch(() => undefined);
    if (is !== undefined) {
      remember({ allowance: undefined });
      if (is) return;
      throw tell(texts.allowanceRefused);
    }
    await pause(receiptPollMs);
  }
  // To send it again pays nothing.
  remember({ allowance: undefined });
  throw tell(texts.allowanceWaits);
};

/** The steps that an allowance still needs. */
export const listAllowing = ({ steps, amountBaseUnits }, allowance) =>
  allowance >= BigInt(amountBaseUnits)
    ? []
    : steps.filter(
        ({ kind }) => kind === "approve" || (kind === "reset_allowance" && allowance > 0n),
      );

/**
 * Remembers the payment before the wallet is asked, with what it then answers. It is forgotten after an error
 * that means that nothing was sent; after any other it may have been.
 */
export const askForPayment = async (payment, askForIt) => {
  const fresh = await readLink();
  if (recall().payment !== undefined) throw tell(texts.otherTab);
  if (fresh.instructions?.amount !== amount) throw tell(texts.changed);
  link = fresh;
  if (listSeen().length > 0) throw new Told("");
  const asked = { ...payment, wallet: chosen.info.rdns };
  remember({ payment: asked });
  const timer = setTimeout(() => {
    isUnanswered = true;
    render();
  }, answerMsUsual);
  try {
    remember({ payment: { ...asked, ...(await askForIt()) } });
  } catch (error) {
    if (!nothingSent.has(error.kind)) throw error instanceof Told ? error : new Told("");
    remember({ payment: undefined });
    throw error;
  } finally {
    clearTimeout(timer);
    isUnanswered = false;
  }
};

/** Holds one lock for all tabs of this link; without locks the memory alone parts them. */
const alone = (work) =>
  navigator.locks === undefined
    ? work()
    : navigator.locks.request(memory.name, { ifAvailable: true }, (lock) => {
        if (lock === null) throw tell(texts.otherTab);
        return work();
      });

/** What is said of each kind of fault. */
const faultTexts = {
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
 * A wallet may read the chain from within the page, where the page's policy blocks the node. The browser reports
 * that a moment after the request failed.
 */
let isBlockedByPolicy = false;
const reportMsMax = 200;
document.addEventListener("securitypolicyviolation", ({ effectiveDirective }) => {
  if (effectiveDirective === "connect-src") isBlockedByPolicy = true;
});

const textOfFault = async ({ kind }) => {
  const mayBeBlocked = kind === "unreachable" || kind === "unknown";
  if (mayBeBlocked && !isBlockedByPolicy) await pause(reportMsMax);
  if (mayBeBlocked && isBlockedByPolicy) return fill(texts.stopped);
  return fill(family.faultTexts?.[kind] ?? faultTexts[kind]);
};

const payOnce = async () => {
  if (isBusy || recall().payment !== undefined || listSeen().length > 0) return;
  isBusy = true;
  isBlockedByPolicy = false;
  let reason;
  try {
    await alone(() => family.pay(chosen));
  } catch (error) {
    reason = error instanceof Told ? error.message : await textOfFault(toFault(error));
    // Of several wallets another one may be chosen now.
    chosen = undefined;
  }
  isBusy = false;
  say(reason || undefined);
  look();
  void renew();
};

/** How amounts look is `page.js`'s. */
const dress = () => {
  for (const button of document.querySelectorAll("[data-copy]")) {
    button.hidden = navigator.clipboard === undefined;
  }
};

let look;

/**
 * Begins. A family says what wallets there are and how they are heard of, `pay` by one of them, what a chain
 * says of a payment (`hearChain`), how a hash is shown, and the texts of its own faults (`faultTexts`).
 */
export const openTill = (own) => {
  family = { showHash: (hash) => hash, ...own };
  payButton.addEventListener("click", () => {
    chosen = findWallet();
    if (chosen !== undefined) return void payOnce();
    picker.hidden = false;
    render();
    picker.querySelector("button").focus();
  });

  goneButton.addEventListener("click", () => dialog.showModal());
  dialog.addEventListener("close", () => {
    if (dialog.returnValue !== "gone") return;
    for (const { id } of link.pendingPayments) released.add(id);
    endPayment(recall().payment ?? {}, undefined);
    say(undefined);
    // The request that the wallet never answered ends with the page.
    if (isBusy) location.reload();
  });

  document.addEventListener("click", async ({ target }) => {
    const button = target.closest("[data-copy]");
    if (button === null) return;
    await navigator.clipboard.writeText(button.dataset.copy);
    button.textContent = texts.copied;
    button.ariaLabel = texts.copied;
  });

  family.onWallet(render);
  // What another tab of this browser has done.
  window.addEventListener("storage", () => {
    render();
    look();
  });
  window.addEventListener("pageshow", ({ persisted }) => {
    if (persisted) location.reload();
  });

  render();
  // To learn how its reader groups digits takes a browser longer than all the rest: the button comes first.
  requestAnimationFrame(() => setTimeout(dress));
  look = follow({ addressOf: () => addressOf("/events"), ask: readLink, hear, setOffline });
  void watch();
};
