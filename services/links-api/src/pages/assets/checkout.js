// What the checkout page does beyond showing: it follows the link's state, and pays with a wallet of
// the browser. Once a wallet was asked for a payment, this browser remembers it and offers no second
// one until the service, the chain or the person says that the first is gone. Everything that came
// from outside is put into the page as text.

import "./page.js";
import { grouped } from "./amounts.js";
import { follow } from "./live.js";
import { openMemory } from "./memory.js";
import { keepNew } from "./renew.js";
import {
  askWallet,
  batchRefusals,
  canBatch,
  findTaker,
  hasCode,
  listWallets,
  moveToChain,
  newBatchId,
  onWallet,
  pause,
  readAllowance,
  readBalance,
  readBatch,
  sendBatch,
  toTransaction,
  unknownChain,
} from "./wallets.js";

const find = (selector) => document.querySelector(selector);
const section = find("#pay");
const { link: linkId, chain: chainId, symbol } = section.dataset;
let { amount } = section.dataset;
const { chainName, coin, token, decimals, rpc } = section.dataset;
const chain = { id: chainId, name: chainName, coin, rpc };
const texts = JSON.parse(section.dataset.texts);
const payButton = find("#wallet");
const goneButton = find("#gone");
const picker = find("#wallets");
const dialog = find("#confirm-gone");

const pollMs = 4_000;
const receiptPollMs = 2_000;
const receiptTriesMax = 60;
const nameCharactersMax = 40;
const iconCharactersMax = 100_000;
const iconPixels = 24;

const fromBaseUnits = (units) => {
  const digits = String(units).padStart(Number(decimals) + 1, "0");
  const at = digits.length - Number(decimals);
  const fraction = digits.slice(at).replace(/0+$/, "");
  return grouped(fraction === "" ? digits.slice(0, at) : `${digits.slice(0, at)}.${fraction}`);
};

const fill = (text, values = {}) => {
  const all = { amount: grouped(amount), symbol, chain: chainName, coin, ...values };
  return text.replaceAll(/\{(\w+)\}/g, (place, name) => all[name] ?? place);
};

/** An error whose text is for the payer. */
class Told extends Error {}
const tell = (text, values) => new Told(fill(text, values));

const short = (address) => `${address.slice(0, 6)}…${address.slice(-4)}`;

const memory = openMemory(linkId);
const { recall, remember, isRemembered } = memory;

// Paying takes one wallet.

let chosen;

/** The wallet that was chosen, or that paid before, or the only one. */
const findWallet = () => {
  const wallets = listWallets();
  const { payment } = recall();
  const former = payment && wallets.find(({ info }) => info.rdns === payment.wallet);
  return chosen ?? former ?? (wallets.length === 1 ? wallets[0] : undefined);
};

const ask = (method, ...params) => askWallet(chosen, method, params);

// What the page shows.

let link = { pendingPayments: JSON.parse(section.dataset.pending), payment: null };
let isBusy = false;
let isMined = false;
let isOffline = false;
let said;
const released = new Set();

const listSeen = () => link.pendingPayments.filter(({ id }) => !released.has(id));

const textOfPayment = ({ hash, isTaken, isUncounted, isChanged }) => {
  if (hash === undefined) return isTaken ? texts.taken : texts.asked;
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

const render = () => {
  if (!section.isConnected) return;
  const wallets = listWallets();
  const isBlocked = recall().payment !== undefined || listSeen().length > 0;
  payButton.hidden = wallets.length === 0;
  payButton.disabled = isBusy || isBlocked;
  goneButton.hidden = isBusy || !isBlocked;
  find("#no-wallet").hidden = wallets.length > 0;
  // What keeps from paying is said before what became of the last click.
  const words = isBlocked && !isBusy ? textOfState() : (said ?? "");
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
  explorer.href = `${explorer.dataset.explorer}/tx/${encodeURIComponent(hash)}`;
};

const say = (text) => {
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

const endPayment = (payment, text) => {
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

const isSame = (sent, { to, data }) =>
  sent.to?.toLowerCase() === to.toLowerCase() && sent.input === data;

/**
 * Who sent a batch, in which transaction and how often, is the wallet's affair, so the wallet alone
 * is asked. A batch that it does not know may still be a question that nobody has answered there.
 */
const hearBatch = async (wallet, payment) => {
  const { status, hash, isReverted } = await readBatch(wallet, payment.batch);
  if (!isRemembered(payment)) return;
  if (status >= 400 && status < 500) return endPayment(payment, texts.failed);
  // Of a batch that was carried out in part, its last call is the payment.
  if ((status >= 500 && status < 600) || (status >= 600 && isReverted)) {
    return endPayment(payment, texts.refused);
  }
  isMined = status >= 200;
  if (status >= 100)
    remember({ payment: { ...payment, isTaken: true, hash: hash ?? payment.hash } });
  render();
};

/** Whether a payment is the token's own transfer, which names the link by the end of its calldata alone. */
const isDirect = ({ to }) => to !== undefined && to.toLowerCase() === token.toLowerCase();

/** A wallet that wrote its own calldata has sent the money, and the link's name is lost. */
const holdAgainst = async (wallet, payment) => {
  const sent = await askWallet(wallet, "eth_getTransactionByHash", [payment.hash]);
  if (!sent || isSame(sent, payment) || !isRemembered(payment)) return;
  remember({ payment: { ...payment, isChanged: true } });
};

/** A wallet that speeds a payment up sends it again under another hash: that is followed. */
const hearChain = async (payment) => {
  const wallet = findWallet();
  if (wallet === undefined) return;
  if (payment.batch !== undefined) return hearBatch(wallet, payment);
  if (payment.hash === undefined) return;
  if (BigInt(await askWallet(wallet, "eth_chainId", [])) !== BigInt(chainId)) return;
  const receipt = await askWallet(wallet, "eth_getTransactionReceipt", [payment.hash]);
  isMined = receipt !== null;
  if (receipt && BigInt(receipt.status) === 0n) return endPayment(payment, texts.refused);
  if (receipt && isDirect(payment)) await holdAgainst(wallet, payment);
  if (receipt || payment.nonce === undefined) return render();
  const taker = await findTaker(wallet, payment);
  if (taker === undefined || taker.hash === payment.hash) return;
  if (!isRemembered(payment)) return;
  if (isSame(taker, payment)) remember({ payment: { ...payment, hash: taker.hash } });
  else endPayment(payment, texts.replaced);
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
    await hearChain(payment).catch(() => undefined);
  }
};

// Paying.

const chooseChain = async () => {
  if (!(await moveToChain(chosen, chain))) throw tell(texts.wrongNetwork);
};

const checkBalance = async (from, { amountBaseUnits }) => {
  say(texts.checking);
  const units = await readBalance(chosen, token, from);
  const values = { account: short(from), balance: fromBaseUnits(units) };
  find("#account").textContent = fill(texts.account, values);
  find("#account").hidden = false;
  if (units < BigInt(amountBaseUnits)) throw tell(texts.lacksToken, values);
};

/** Tries a step out before anything is signed; answers the gas that it takes. */
const tryOut = (from, step) =>
  ask("eth_estimateGas", toTransaction(from, step)).catch((error) => {
    if (/insufficient funds/i.test(error?.message)) throw lacksGas(from);
    if (error?.code === 3 || /revert/i.test(error?.message)) throw tell(texts.blocked);
    throw error;
  });
const lacksGas = (from) => tell(texts.lacksGas, { account: short(from) });

const checkGas = async (from, step) => {
  const gas = await tryOut(from, step);
  const [price, coins] = [await ask("eth_gasPrice"), await ask("eth_getBalance", from, "latest")];
  if (BigInt(coins) < BigInt(step.value) + BigInt(gas) * BigInt(price)) throw lacksGas(from);
};

const waitForAllowance = async ({ hash }) => {
  say(texts.allowing);
  for (let tries = 0; tries < receiptTriesMax; tries += 1) {
    const receipt = await ask("eth_getTransactionReceipt", hash).catch(() => null);
    if (receipt) {
      remember({ allowance: undefined });
      if (BigInt(receipt.status) === 1n) return;
      throw tell(texts.allowanceRefused);
    }
    await pause(receiptPollMs);
  }
  // To send it again pays nothing.
  remember({ allowance: undefined });
  throw tell(texts.allowanceWaits);
};

/** The steps that an allowance still needs. */
const listAllowing = async (from, { steps, proxyAddress, amountBaseUnits }) => {
  if (steps.length === 1) return [];
  const { allowance: former } = recall();
  if (former !== undefined) await waitForAllowance(former);
  const allowance = await readAllowance(chosen, token, from, proxyAddress);
  if (allowance >= BigInt(amountBaseUnits)) return [];
  return steps.filter(
    ({ kind }) => kind === "approve" || (kind === "reset_allowance" && allowance > 0n),
  );
};

const allow = async (from, steps) => {
  if (steps.length > 0) await checkGas(from, steps[0]);
  for (const [index, step] of steps.entries()) {
    say(fill(texts.allow, { step: index + 1, steps: steps.length + 1 }));
    const hash = await ask("eth_sendTransaction", toTransaction(from, step));
    remember({ allowance: { hash } });
    await waitForAllowance({ hash });
  }
};

// With these a wallet says that it has sent nothing. After any other error it may have.
const refusals = new Set([4001, 4100, 4200, unknownChain, -32601, -32602, ...batchRefusals]);

/** Remembers the payment before the wallet is asked, with what it then answers. */
const askForPayment = async (payment, askForIt) => {
  const fresh = await readLink();
  if (recall().payment !== undefined) throw tell(texts.otherTab);
  if (fresh.instructions?.amount !== amount) throw tell(texts.changed);
  link = fresh;
  if (listSeen().length > 0) throw new Told("");
  const asked = { ...payment, wallet: chosen.info.rdns };
  remember({ payment: asked });
  try {
    remember({ payment: { ...asked, ...(await askForIt()) } });
  } catch (error) {
    if (!refusals.has(error?.code)) throw new Told("");
    remember({ payment: undefined });
    throw error;
  }
};

const sendPayment = async (from, step) => {
  const [nonce, block] = await Promise.all([
    ask("eth_getTransactionCount", from, "pending").then(Number),
    ask("eth_blockNumber").then(Number),
  ]);
  const { to, data } = step;
  await askForPayment({ from, to, data, nonce, block }, async () => {
    const hash = await ask("eth_sendTransaction", toTransaction(from, step));
    return { hash: hash.toLowerCase() };
  });
};

/**
 * Has the wallet allow and pay as one; false where it cannot. It says itself what the fee is, as it
 * may be paid in a token, or by somebody else.
 */
const payAsOne = async (from, steps) => {
  if (!(await canBatch(chosen, from, chainId))) return false;
  await tryOut(from, steps[0]);
  await chooseChain();
  say(texts.confirmBoth);
  const id = newBatchId();
  try {
    await askForPayment({ batch: id }, async () => {
      const batch = await sendBatch(chosen, { id, from, chainId, steps });
      return { batch, isTaken: true };
    });
    return true;
  } catch (error) {
    if (batchRefusals.has(error?.code)) return false;
    throw error;
  }
};

/**
 * The one transfer that pays without an allowance, if the link can be paid so. An account with code may
 * send it by another call, which would hide the link's name.
 */
const findDirect = async (from, { ways }) => {
  const way = ways.find(({ kind }) => kind === "suffix");
  if (way === undefined || (await hasCode(chosen, from).catch(() => true))) return undefined;
  return way.steps[0];
};

const payAlone = async (from, step, words) => {
  await checkGas(from, step);
  await chooseChain();
  say(words);
  await sendPayment(from, step);
};

const pay = async () => {
  say(texts.connecting);
  const [from] = await ask("eth_requestAccounts");
  if (from === undefined) throw tell(texts.rejected);
  await chooseChain();
  link = await readLink();
  const { instructions } = link;
  if (instructions?.amount !== amount) throw tell(texts.changed);
  if (recall().payment !== undefined || listSeen().length > 0) throw new Told("");
  await checkBalance(from, instructions);
  const allowing = await listAllowing(from, instructions);
  const step = instructions.steps.at(-1);
  const steps = allowing.length + 1;
  if (steps === 1) return payAlone(from, step, texts.confirm);
  if (await payAsOne(from, [...allowing, step])) return;
  const direct = await findDirect(from, instructions);
  if (direct !== undefined) return payAlone(from, direct, texts.confirm);
  await allow(from, allowing);
  await payAlone(from, step, fill(texts.payStep, { step: steps, steps }));
};

/** A wallet that only watches, or does not take what it is asked. */
const unableCodes = new Set([4200, -32601, -32602]);

const wordsOf = (error) => {
  if (error instanceof Told) return error.message;
  if (error?.code === 4001) return texts.rejected;
  if (error?.code === unknownChain) return fill(texts.unknownNetwork);
  if (error?.code === -32002) return texts.busyWallet;
  if (error?.code === 4100) return texts.notAllowed;
  if (unableCodes.has(error?.code)) return texts.cannotPay;
  return fill(texts.chainDown);
};

/** Holds one lock for all tabs of this link; without locks the memory alone parts them. */
const alone = (work) =>
  navigator.locks === undefined
    ? work()
    : navigator.locks.request(memory.name, { ifAvailable: true }, (lock) => {
        if (lock === null) throw tell(texts.otherTab);
        return work();
      });

const payOnce = async () => {
  if (isBusy || recall().payment !== undefined || listSeen().length > 0) return;
  isBusy = true;
  let words;
  try {
    await alone(pay);
  } catch (error) {
    words = wordsOf(error);
    // Of several wallets another one may be chosen now.
    chosen = undefined;
  }
  isBusy = false;
  say(words || undefined);
  look();
  void renew();
};

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
});

/** How amounts look is `page.js`'s. */
const dress = () => {
  for (const button of document.querySelectorAll("[data-copy]")) {
    button.hidden = navigator.clipboard === undefined;
  }
};

document.addEventListener("click", async ({ target }) => {
  const button = target.closest("[data-copy]");
  if (button === null) return;
  await navigator.clipboard.writeText(button.dataset.copy);
  button.textContent = texts.copied;
  button.ariaLabel = texts.copied;
});

onWallet(render);
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
const look = follow({ addressOf: () => addressOf("/events"), ask: readLink, hear, setOffline });
void watch();
