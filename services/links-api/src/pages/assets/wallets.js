// The wallets of this browser, and what a page may ask them. It knows nothing of links, and shows
// nothing.

import { toFault } from "./wallet-errors.js";
import { inTime } from "./waiting.js";

const wordDigits = 64;

// Wallets make themselves known (EIP-6963), some of them late.

const announced = new Map();

/** Calls back whenever another wallet has made itself known. */
export const onWallet = (hear) => {
  window.addEventListener("eip6963:announceProvider", ({ detail }) => {
    const { info, provider } = detail ?? {};
    if (typeof info?.name !== "string" || provider?.request === undefined) return;
    if (announced.has(info.uuid)) return;
    announced.set(info.uuid, detail);
    hear();
  });
  window.dispatchEvent(new Event("eip6963:requestProvider"));
};

/** The wallets that are known by now; one of the old kind has no name. */
export const listWallets = () => {
  if (announced.size > 0) return [...announced.values()];
  const { ethereum: provider } = window;
  return provider ? [{ info: { name: "", rdns: "" }, provider }] : [];
};

const answeredByPersons = new Set([
  "eth_requestAccounts",
  "eth_sendTransaction",
  "wallet_switchEthereumChain",
  "wallet_addEthereumChain",
  "wallet_sendCalls",
]);

/** Asks a wallet. An error is a fault; one that nobody understands is the chain's where no person was asked. */
export const askWallet = async ({ provider }, method, params) => {
  const isAnsweredByPerson = answeredByPersons.has(method);
  try {
    const answer = provider.request({ method, params });
    return await (isAnsweredByPerson ? answer : inTime(answer));
  } catch (error) {
    throw toFault(error, isAnsweredByPerson ? "unknown" : "unreachable");
  }
};

const isOnChain = async (wallet, id) =>
  BigInt(await askWallet(wallet, "eth_chainId", [])) === BigInt(id);

const switchChain = (wallet, id) =>
  askWallet(wallet, "wallet_switchEthereumChain", [{ chainId: hex(id) }]);

const addChain = (wallet, { id, name, coin, rpc }) => {
  const nativeCurrency = { name: coin, symbol: coin, decimals: 18 };
  const chain = { chainId: hex(id), chainName: name, nativeCurrency, rpcUrls: [rpc] };
  return askWallet(wallet, "wallet_addEthereumChain", [chain]);
};

/** A person can still switch by hand after these. */
const switchedByHand = new Set(["unknown", "unsupported"]);

/**
 * Switches the wallet to a chain, or adds the chain to it; returns whether it is there then. Several wallets
 * answer with an unknown error where they lack the chain, so that is added too.
 */
export const moveToChain = async (wallet, chain) => {
  if (await isOnChain(wallet, chain.id)) return true;
  try {
    await switchChain(wallet, chain.id).catch(async (error) => {
      const mayLackChain = error.kind === "networkMissing" || error.kind === "unknown";
      if (!mayLackChain || chain.rpc === "") throw error;
      await addChain(wallet, chain);
      // A wallet may add a chain without switching to it (EIP-3085).
      if (!(await isOnChain(wallet, chain.id))) await switchChain(wallet, chain.id);
    });
  } catch (error) {
    if (!switchedByHand.has(error.kind)) throw error;
  }
  return isOnChain(wallet, chain.id);
};

const hex = (number) => `0x${BigInt(number).toString(16)}`;
const word = (address) => address.slice(2).toLowerCase().padStart(wordDigits, "0");
const callToken = async (wallet, token, data) =>
  BigInt(await askWallet(wallet, "eth_call", [{ to: token, data }, "latest"]));

/** ERC-20 `balanceOf(owner)`; a native coin has no contract. */
export const readBalance = async (wallet, token, owner) =>
  token === ""
    ? BigInt(await askWallet(wallet, "eth_getBalance", [owner, "latest"]))
    : callToken(wallet, token, `0x70a08231${word(owner)}`);

/** ERC-20 `allowance(owner, spender)`. */
export const readAllowance = (wallet, token, owner, spender) =>
  callToken(wallet, token, `0xdd62ed3e${word(owner)}${word(spender)}`);

/**
 * Whether an account is certainly a key's own and no contract, which may send what it is asked for by a call of
 * its own. A smart account that is not deployed yet has no code either, but it has sent no transaction.
 */
export const isPlainAccount = async (wallet, account) => {
  const [code, count] = await Promise.all([
    askWallet(wallet, "eth_getCode", [account, "latest"]),
    askWallet(wallet, "eth_getTransactionCount", [account, "latest"]),
  ]);
  return code === "0x" && Number(count) > 0;
};

/** A step of the server's, as a wallet takes it. */
export const toTransaction = (from, { to, data, value }) => ({
  from,
  to,
  data,
  value: hex(value),
});

/**
 * The transaction that used a payment's nonce. The block in which the sender's count passed it is
 * found by halving; undefined if none can be found.
 */
export const findTaker = async (wallet, { from, nonce, block }) => {
  const countAt = async (number) =>
    Number(await askWallet(wallet, "eth_getTransactionCount", [from, number]));
  if ((await countAt("latest")) <= nonce) return undefined;
  let [low, high] = [block, Number(await askWallet(wallet, "eth_blockNumber", []))];
  while (low < high) {
    const middle = Math.floor((low + high) / 2);
    if ((await countAt(hex(middle))) > nonce) high = middle;
    else low = middle + 1;
  }
  const full = await askWallet(wallet, "eth_getBlockByNumber", [hex(high), true]);
  const isTaker = (one) =>
    one.from?.toLowerCase() === from.toLowerCase() && Number(one.nonce) === nonce;
  return full?.transactions.find(isTaker);
};

// Several calls as one (EIP-5792).

const askForCapabilities = (wallet, from, chainId) =>
  askWallet(wallet, "wallet_getCapabilities", [from, [hex(chainId)]]).catch((error) => {
    // The older form has no list of chains.
    if (error.kind !== "unsupported") throw error;
    return askWallet(wallet, "wallet_getCapabilities", [from]);
  });

const batchStatuses = new Set(["supported", "ready"]);

/**
 * What a wallet's capabilities mean: whether it reports any, and whether it carries out several calls on a chain
 * as one, now or once its owner lets it. The older form of the latter is `atomicBatch.supported`.
 */
export const parseCapabilities = (all, chainId) => {
  if (typeof all !== "object" || all === null) return { isReported: false, canBatch: false };
  const entriesOf = (id) => Object.entries(all).filter(([key]) => Number(key) === Number(id));
  // What stands under 0x0 holds on every chain.
  const found = [...entriesOf(0), ...entriesOf(chainId)].map(([, capabilities]) => capabilities);
  const { atomic, atomicBatch } = Object.assign({}, ...found);
  const canBatch =
    atomic === undefined ? atomicBatch?.supported === true : batchStatuses.has(atomic?.status);
  return { isReported: true, canBatch };
};

export const readCapabilities = async (wallet, from, chainId) =>
  parseCapabilities(
    await askForCapabilities(wallet, from, chainId).catch(() => undefined),
    chainId,
  );

const idBytes = 32;

/** A batch has its id before it is asked for, so that it can be found if no answer ever comes. */
export const newBatchId = () => {
  const bytes = [...crypto.getRandomValues(new Uint8Array(idBytes))];
  return `0x${bytes.map((byte) => byte.toString(16).padStart(2, "0")).join("")}`;
};

/** Has a wallet carry out steps of the server's as one; answers the batch's id. */
export const sendBatch = async (wallet, { id, from, chainId, steps }) => {
  const calls = steps.map(({ to, data, value }) => ({ to, data, value: hex(value) }));
  const wanted = { version: "2.0.0", id, from, chainId: hex(chainId), atomicRequired: true, calls };
  const answer = await askWallet(wallet, "wallet_sendCalls", [wanted]);
  // The older form answers with the id alone.
  const own = answer?.id ?? answer;
  return typeof own === "string" ? own : id;
};

/** The statuses of the older form. */
const oldStatuses = { PENDING: 100, CONFIRMED: 200 };

/**
 * What a wallet says of a batch: its status, and the transaction in which the last of its calls is,
 * once it is in a block.
 */
export const readBatch = async (wallet, id) => {
  const { status, receipts } = await askWallet(wallet, "wallet_getCallsStatus", [id]);
  const last = receipts?.at(-1);
  const isReverted = last !== undefined && BigInt(last.status) === 0n;
  // The older form calls a batch confirmed that was reverted as a whole.
  const isRevertedOld = status === "CONFIRMED" && isReverted;
  return {
    status: isRevertedOld ? 500 : Number(oldStatuses[status] ?? status),
    hash: last?.transactionHash?.toLowerCase(),
    isReverted,
  };
};
