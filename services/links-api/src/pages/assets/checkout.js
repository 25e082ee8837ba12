// What the checkout page of an EVM chain does beyond showing: it pays with a wallet of the browser.

import { isAttributed } from "./attributions.js";
import {
  askForPayment,
  checkBalance,
  endPayment,
  fill,
  findWallet,
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
  tell,
  texts,
  waitForAllowance,
} from "./till.js";
import { WalletFault } from "./wallet-errors.js";
import {
  askWallet,
  findTaker,
  isPlainAccount,
  listWallets,
  moveToChain,
  newBatchId,
  onWallet,
  readAllowance,
  readBalance,
  readBatch,
  readCapabilities,
  sendBatch,
  toTransaction,
} from "./wallets.js";

const { chain: chainId, chainName, coin, token, rpc } = section.dataset;
const chain = { id: chainId, name: chainName, coin, rpc };

/** The wallet that pays. */
let chosen;

const ask = (method, ...params) => askWallet(chosen, method, params);

// What the chain says of the remembered payment.

/** Whether a payment is the token's own transfer, which names the link by the end of its calldata alone. */
const isDirect = ({ to }) => to !== undefined && to.toLowerCase() === token.toLowerCase();

const isCall = (sent, { to }, isInput) =>
  sent.to?.toLowerCase() === to.toLowerCase() && isInput(sent.input);

/** Whether a transaction moves a payment's money. Contracts ignore what follows a call's arguments. */
const movesMoney = (sent, payment) => {
  const call = isDirect(payment) ? payment.data.slice(0, transferLength) : payment.data;
  return isCall(sent, payment, (input) => input.startsWith(call));
};
const transferLength = "0x".length + 2 * (4 + 32 + 32);

/** Whether a transfer names its link as the service reads it: wallets may only append attributions. */
const namesLink = (sent, payment) =>
  isCall(sent, payment, (input) => isAttributed(input, payment.data));

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
  setMined(status >= 200);
  if (status >= 100)
    remember({ payment: { ...payment, isTaken: true, hash: hash ?? payment.hash } });
  render();
};

/** A wallet that wrote its own calldata has sent the money, and the link's name is lost. */
const holdAgainst = async (wallet, payment) => {
  const sent = await askWallet(wallet, "eth_getTransactionByHash", [payment.hash]);
  if (!sent || namesLink(sent, payment) || !isRemembered(payment)) return;
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
  setMined(receipt !== null);
  if (receipt && BigInt(receipt.status) === 0n) return endPayment(payment, texts.refused);
  if (receipt && isDirect(payment)) await holdAgainst(wallet, payment);
  if (receipt || payment.nonce === undefined) return render();
  const taker = await findTaker(wallet, payment);
  if (taker === undefined || taker.hash === payment.hash) return;
  if (!isRemembered(payment)) return;
  if (movesMoney(taker, payment)) remember({ payment: { ...payment, hash: taker.hash } });
  else endPayment(payment, texts.replaced);
};

// Paying.

const chooseChain = async () => {
  if (!(await moveToChain(chosen, chain))) throw tell(texts.wrongNetwork);
};

/** Tries a step out before anything is signed; answers the gas that it takes. */
const tryOut = (from, step) => ask("eth_estimateGas", toTransaction(from, step));

const checkGas = async (from, step) => {
  const gas = await tryOut(from, step);
  const [price, coins] = [await ask("eth_gasPrice"), await ask("eth_getBalance", from, "latest")];
  if (BigInt(coins) < BigInt(step.value) + BigInt(gas) * BigInt(price)) {
    throw new WalletFault("lacksGas");
  }
};

const isAllowed = async (hash) => {
  const receipt = await ask("eth_getTransactionReceipt", hash);
  return receipt ? BigInt(receipt.status) === 1n : undefined;
};

const findAllowing = async (from, instructions) => {
  if (instructions.steps.length === 1) return [];
  const { allowance: former } = recall();
  if (former !== undefined) await waitForAllowance(former, isAllowed);
  const { proxyAddress } = instructions;
  return listAllowing(instructions, await readAllowance(chosen, token, from, proxyAddress));
};

const allow = async (from, steps) => {
  if (steps.length > 0) await checkGas(from, steps[0]);
  for (const [index, step] of steps.entries()) {
    say(fill(texts.allow, { step: index + 1, steps: steps.length + 1 }));
    const hash = await ask("eth_sendTransaction", toTransaction(from, step));
    remember({ allowance: { hash } });
    await waitForAllowance({ hash }, isAllowed);
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
const payAsOne = async (from, steps, { canBatch }) => {
  if (!canBatch) return false;
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
    if (error.kind === "batchUnsupported" || error.kind === "unsupported") return false;
    throw error;
  }
};

/**
 * The one transfer that pays without an allowance, if the link can be paid so. A contract may send it by another
 * call, which would hide the link's name, and a wallet that reports capabilities may stand for a contract.
 */
const findDirect = async (from, { ways }, { isReported }) => {
  const way = ways.find(({ kind }) => kind === "suffix");
  if (way === undefined || isReported) return undefined;
  return (await isPlainAccount(chosen, from).catch(() => false)) ? way.steps[0] : undefined;
};

const payAlone = async (from, step, words) => {
  await checkGas(from, step);
  await chooseChain();
  say(words);
  await sendPayment(from, step);
};

const pay = async (wallet) => {
  chosen = wallet;
  say(texts.connecting);
  const [from] = await ask("eth_requestAccounts");
  if (from === undefined) throw tell(texts.rejected);
  await chooseChain();
  const instructions = await readInstructions();
  say(texts.checking);
  checkBalance(from, await readBalance(chosen, token, from), instructions);
  const allowing = await findAllowing(from, instructions);
  const step = instructions.steps.at(-1);
  const steps = allowing.length + 1;
  if (steps === 1) return payAlone(from, step, texts.confirm);
  const capabilities = await readCapabilities(chosen, from, chainId);
  if (await payAsOne(from, [...allowing, step], capabilities)) return;
  const direct = await findDirect(from, instructions, capabilities);
  if (direct !== undefined) return payAlone(from, direct, texts.confirm);
  await allow(from, allowing);
  await payAlone(from, step, fill(texts.payStep, { step: steps, steps }));
};

openTill({ listWallets, onWallet, hearChain, pay });
