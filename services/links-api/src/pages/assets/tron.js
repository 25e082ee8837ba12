// What the checkout page of a Tron chain does beyond showing: it pays with a wallet of the browser. There are
// no nonces. A transaction has its id before it is signed, and an end: what no block has by then is gone.

import {
  askForPayment,
  checkBalance,
  endPayment,
  fill,
  findWallet,
  fromBaseUnits,
  isRemembered,
  listAllowing,
  openTill,
  readInstructions,
  recall,
  remember,
  render,
  say,
  section,
  setMined,
  short,
  tell,
  texts,
  waitForAllowance,
} from "./till.js";
import { isStep } from "./tron-transaction.js";
import {
  askForChain,
  broadcast,
  build,
  connect,
  isOnChain,
  listWallets,
  onWallet,
  readAllowance,
  readBalance,
  readMeans,
  readOutcome,
  sign,
  tryOut,
  webOf,
} from "./tron-wallets.js";
import { WalletFault } from "./wallet-errors.js";

const { token, caip2 } = section.dataset;
const chainNumber = BigInt(caip2.slice("tron:".length));
const coinDecimals = 6;

const inCoins = (sun) => fromBaseUnits(sun, coinDecimals);
/** Nodes write 0x before a hash where they speak Ethereum's dialect, as the service does; wallets do not. */
const showHash = (hash) => hash.slice("0x".length);

// What the chain says of the remembered payment.

const endings = { EXPIRED: texts.expired, OUT_OF_ENERGY: texts.outOfEnergy };

const hearChain = async (payment) => {
  const wallet = findWallet();
  const web = wallet && webOf(wallet);
  if (web === undefined || payment.hash === undefined) return;
  if (!(await isOnChain(web, chainNumber))) return;
  const outcome = await readOutcome(web, showHash(payment.hash), payment.expiresAt);
  if (!isRemembered(payment)) return;
  if (outcome === undefined) return;
  if (outcome !== "SUCCESS") return endPayment(payment, endings[outcome] ?? texts.refused);
  setMined(true);
  // Whatever the wallet answered, it is there.
  remember({ payment: { ...recall().payment, isAsked: false } });
  render();
};

// Paying.

const chooseChain = async (wallet, web) => {
  if (await isOnChain(web, chainNumber)) return web;
  await askForChain(wallet, chainNumber).catch((error) => {
    if (error.kind === "rejected" || error.kind === "busy") throw error;
  });
  // The wallet has another one for another chain.
  const changed = webOf(wallet);
  if (changed !== undefined && (await isOnChain(changed, chainNumber))) return changed;
  throw tell(texts.wrongNetwork);
};

const checkMeans = async (web, from, instructions) => {
  say(texts.checking);
  const [units, { coins, energy }] = await Promise.all([
    readBalance(web, token, from),
    readMeans(web, from),
  ]);
  const means = { coins: inCoins(coins), energy: fromBaseUnits(energy, 0) };
  checkBalance(from, units, instructions, means);
};

/** What a step costs at most, and about now; refuses what the account cannot pay, or the limit does not cover. */
const readFee = async (web, from, step) => {
  const needed = await tryOut(web, step, from);
  const { coins, energy, price } = await readMeans(web, from);
  const cost = needed > energy ? (needed - energy) * price : 0n;
  const limit = BigInt(step.tron.feeLimit);
  const fee = { cost: inCoins(cost), limit: inCoins(limit), needed: fromBaseUnits(needed, 0) };
  if (needed * price > limit) throw tell(texts.tooDear, fee);
  if (coins < cost) {
    throw tell(texts.lacksGas, { ...fee, account: short(from), coins: inCoins(coins) });
  }
  return fee;
};

/** Says what is signed and what it costs; has the wallet make it, and looks at what it made. */
const prepare = async (web, from, step, words) => {
  const fee = await readFee(web, from, step);
  say(fill(`${words} ${texts.fee}`, fee));
  const transaction = await build(web, step, from);
  if (!isStep(transaction, step, from)) throw new WalletFault("different");
  return transaction;
};

/** `isWanted` answers whether it is to be sent still, once it has been signed. */
const send = async (web, transaction, isWanted = () => true) => {
  const signing = sign(web, transaction);
  await signing.catch(() => undefined);
  if (!isWanted()) throw tell(texts.expired);
  const signed = await signing;
  if (signed.raw_data_hex !== transaction.raw_data_hex || signed.txID !== transaction.txID) {
    throw new WalletFault("different");
  }
  await broadcast(web, signed);
};

const isAllowed = (web, expiresAt) => async (hash) => {
  const outcome = await readOutcome(web, hash, expiresAt);
  return outcome === undefined ? undefined : outcome === "SUCCESS";
};

const findAllowing = async (web, from, instructions) => {
  const { allowance: former } = recall();
  if (former !== undefined) await waitForAllowance(former, isAllowed(web, former.expiresAt));
  const { proxyAddress } = instructions;
  return listAllowing(instructions, await readAllowance(web, token, from, proxyAddress));
};

const allow = async (web, from, steps) => {
  for (const [index, step] of steps.entries()) {
    const words = fill(texts.allow, { step: index + 1, steps: steps.length + 1 });
    const transaction = await prepare(web, from, step, words);
    await send(web, transaction);
    const allowance = { hash: transaction.txID, expiresAt: transaction.raw_data.expiration };
    remember({ allowance });
    await waitForAllowance(allowance, isAllowed(web, allowance.expiresAt));
  }
};

const sendPayment = async (web, transaction, from) => {
  const hash = `0x${transaction.txID.toLowerCase()}`;
  const payment = { from, hash, expiresAt: transaction.raw_data.expiration, isAsked: true };
  await askForPayment(payment, async () => {
    await send(web, transaction, () => isRemembered(payment));
    return { isAsked: false };
  });
};

const pay = async (wallet) => {
  say(texts.connecting);
  const web = await chooseChain(wallet, await connect(wallet));
  const from = web.defaultAddress.base58;
  const instructions = await readInstructions();
  await checkMeans(web, from, instructions);
  const allowing = await findAllowing(web, from, instructions);
  await allow(web, from, allowing);
  const steps = allowing.length + 1;
  const words = steps === 1 ? texts.confirm : fill(texts.payStep, { step: steps, steps });
  const transaction = await prepare(web, from, instructions.steps.at(-1), words);
  await sendPayment(web, transaction, from);
};

/** What nobody confirmed in time may still be confirmed, and then no block takes it. */
const faultTexts = {
  lacksGas: texts.lacksBandwidth,
  lacksBandwidth: texts.lacksBandwidth,
  different: texts.different,
  nodeRefused: texts.nodeRefused,
  late: texts.late,
  unanswered: texts.unanswered,
};

openTill({ listWallets, onWallet, hearChain, showHash, pay, faultTexts });
