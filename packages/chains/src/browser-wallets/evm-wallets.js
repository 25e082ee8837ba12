// The EVM wallets in this browser and the requests that a page sends to them. This module does not
// depend on links and does not render anything.

import { toWalletError } from "./wallet-errors.js";
import { withTimeout } from "./waiting.js";

const wordHexDigits = 64;

const announcedWallets = new Map();

/** Calls back when another wallet is announced (EIP-6963). Some wallets announce themselves late. */
export const onWalletAnnounced = (listener) => {
  window.addEventListener("eip6963:announceProvider", ({ detail }) => {
    const { info, provider } = detail ?? {};
    if (typeof info?.name !== "string" || provider?.request === undefined) return;
    if (announcedWallets.has(info.uuid)) return;
    announcedWallets.set(info.uuid, detail);
    listener();
  });
  window.dispatchEvent(new Event("eip6963:requestProvider"));
};

/**
 * Lists the wallets that are known so far. A wallet that only injects `window.ethereum` does not
 * have a name.
 */
export const listWallets = () => {
  if (announcedWallets.size > 0) return [...announcedWallets.values()];
  const { ethereum: provider } = window;
  return provider ? [{ info: { name: "", rdns: "" }, provider }] : [];
};

/** These requests wait for the user, so they do not have a timeout. */
const userPromptMethods = new Set([
  "eth_requestAccounts",
  "eth_sendTransaction",
  "wallet_switchEthereumChain",
  "wallet_addEthereumChain",
  "wallet_sendCalls",
]);

/**
 * Sends a request to a wallet. If the request does not prompt the user and the kind of an error is
 * unknown, it is treated as an error of the node.
 */
export const sendWalletRequest = async ({ provider }, method, params) => {
  const isUserPrompt = userPromptMethods.has(method);
  try {
    const promise = provider.request({ method, params });
    return await (isUserPrompt ? promise : withTimeout(promise));
  } catch (error) {
    throw toWalletError(error, isUserPrompt ? "unknown" : "unreachable");
  }
};

const isOnChain = async (wallet, chainId) =>
  BigInt(await sendWalletRequest(wallet, "eth_chainId", [])) === BigInt(chainId);

const switchChain = (wallet, chainId) =>
  sendWalletRequest(wallet, "wallet_switchEthereumChain", [{ chainId: toHex(chainId) }]);

const addChain = (wallet, { id, name, coin, rpc }) => {
  const nativeCurrency = { name: coin, symbol: coin, decimals: 18 };
  const chain = { chainId: toHex(id), chainName: name, nativeCurrency, rpcUrls: [rpc] };
  return sendWalletRequest(wallet, "wallet_addEthereumChain", [chain]);
};

/**
 * After these errors the user can still switch the network manually, so the chain is read again.
 */
const manualSwitchKinds = new Set(["unknown", "unsupported"]);

/**
 * Switches the wallet to a chain and returns whether it is on that chain afterwards. Adds the chain
 * if the wallet does not know it. Some wallets report an unknown error in this case, so the chain
 * is also added after an unknown error.
 */
export const switchOrAddChain = async (wallet, chain) => {
  if (await isOnChain(wallet, chain.id)) return true;
  try {
    await switchChain(wallet, chain.id).catch(async (error) => {
      const mayLackChain = error.kind === "networkMissing" || error.kind === "unknown";
      if (!mayLackChain || chain.rpc === "") throw error;
      await addChain(wallet, chain);
      // A wallet can add a chain without switching to it (EIP-3085).
      if (!(await isOnChain(wallet, chain.id))) await switchChain(wallet, chain.id);
    });
  } catch (error) {
    if (!manualSwitchKinds.has(error.kind)) throw error;
  }
  return isOnChain(wallet, chain.id);
};

const toHex = (number) => `0x${BigInt(number).toString(16)}`;
const encodeAddress = (address) => address.slice(2).toLowerCase().padStart(wordHexDigits, "0");
const callToken = async (wallet, token, data) =>
  BigInt(await sendWalletRequest(wallet, "eth_call", [{ to: token, data }, "latest"]));

/**
 * Reads a balance with ERC-20 `balanceOf(owner)`. For the native coin, which does not have a
 * contract, `token` is empty.
 */
export const readBalance = async (wallet, token, owner) =>
  token === ""
    ? BigInt(await sendWalletRequest(wallet, "eth_getBalance", [owner, "latest"]))
    : callToken(wallet, token, `0x70a08231${encodeAddress(owner)}`);

/** ERC-20 `allowance(owner, spender)`. */
export const readAllowance = (wallet, token, owner, spender) =>
  callToken(wallet, token, `0xdd62ed3e${encodeAddress(owner)}${encodeAddress(spender)}`);

/**
 * Returns whether an account is certainly an externally owned account. A contract account can wrap
 * the requested call in one of its own calls. A smart account that is not deployed yet does not
 * have any code either, but it has not sent a transaction.
 */
export const isExternallyOwnedAccount = async (wallet, account) => {
  const [code, transactionCount] = await Promise.all([
    sendWalletRequest(wallet, "eth_getCode", [account, "latest"]),
    sendWalletRequest(wallet, "eth_getTransactionCount", [account, "latest"]),
  ]);
  return code === "0x" && Number(transactionCount) > 0;
};

/** Converts a payment step of the server to the parameters of `eth_sendTransaction`. */
export const toTransactionRequest = (from, { to, data, value }) => ({
  from,
  to,
  data,
  value: toHex(value),
});

/**
 * Finds the transaction that used a payment's nonce, which can be a replacement. A binary search
 * finds the block in which the sender's transaction count exceeded the nonce. Returns undefined if
 * there is none.
 */
export const findTransactionByNonce = async (wallet, { from, nonce, block }) => {
  const readTransactionCount = async (blockNumber) =>
    Number(await sendWalletRequest(wallet, "eth_getTransactionCount", [from, blockNumber]));
  if ((await readTransactionCount("latest")) <= nonce) return undefined;
  let [low, high] = [block, Number(await sendWalletRequest(wallet, "eth_blockNumber", []))];
  while (low < high) {
    const middle = Math.floor((low + high) / 2);
    if ((await readTransactionCount(toHex(middle))) > nonce) high = middle;
    else low = middle + 1;
  }
  const fullBlock = await sendWalletRequest(wallet, "eth_getBlockByNumber", [toHex(high), true]);
  const usesNonce = (transaction) =>
    transaction.from?.toLowerCase() === from.toLowerCase() && Number(transaction.nonce) === nonce;
  return fullBlock?.transactions.find(usesNonce);
};

// Call batches (EIP-5792).

const requestCapabilities = (wallet, from, chainId) =>
  sendWalletRequest(wallet, "wallet_getCapabilities", [from, [toHex(chainId)]]).catch((error) => {
    // The older version of EIP-5792 does not have a list of chains.
    if (error.kind !== "unsupported") throw error;
    return sendWalletRequest(wallet, "wallet_getCapabilities", [from]);
  });

const atomicBatchStatuses = new Set(["supported", "ready"]);

/**
 * Parses a wallet's capabilities: whether it reports any, and whether it can execute several calls
 * on a chain atomically, either now or after the user has enabled it. In the older version, this is
 * `atomicBatch.supported`.
 */
export const parseCapabilities = (capabilitiesByChain, chainId) => {
  if (typeof capabilitiesByChain !== "object" || capabilitiesByChain === null) {
    return { isReported: false, canBatch: false };
  }
  const listEntries = (id) =>
    Object.entries(capabilitiesByChain).filter(([key]) => Number(key) === Number(id));
  // Capabilities under 0x0 apply to every chain.
  const applicableCapabilities = [...listEntries(0), ...listEntries(chainId)].map(
    ([, capabilities]) => capabilities,
  );
  const { atomic, atomicBatch } = Object.assign({}, ...applicableCapabilities);
  const canBatch =
    atomic === undefined
      ? atomicBatch?.supported === true
      : atomicBatchStatuses.has(atomic?.status);
  return { isReported: true, canBatch };
};

export const readCapabilities = async (wallet, from, chainId) =>
  parseCapabilities(
    await requestCapabilities(wallet, from, chainId).catch(() => undefined),
    chainId,
  );

const batchIdBytes = 32;

/**
 * Creates the id of a batch before the batch is requested, so that the batch can be found even if
 * the wallet never responds.
 */
export const createBatchId = () => {
  const bytes = [...crypto.getRandomValues(new Uint8Array(batchIdBytes))];
  return `0x${bytes.map((byte) => byte.toString(16).padStart(2, "0")).join("")}`;
};

/** Asks a wallet to execute payment steps as one atomic batch. Returns the batch's id. */
export const sendBatch = async (wallet, { id, from, chainId, steps }) => {
  const calls = steps.map(({ to, data, value }) => ({ to, data, value: toHex(value) }));
  const batch = {
    version: "2.0.0",
    id,
    from,
    chainId: toHex(chainId),
    atomicRequired: true,
    calls,
  };
  const result = await sendWalletRequest(wallet, "wallet_sendCalls", [batch]);
  // The older version returns only the id of the batch.
  const returnedId = result?.id ?? result;
  return typeof returnedId === "string" ? returnedId : id;
};

/** The names of the statuses in the older version. */
const legacyStatuses = { PENDING: 100, CONFIRMED: 200 };

/**
 * Reads the status of a batch from the wallet. `hash` is the transaction with the last call of the
 * batch, once a block contains it.
 */
export const readBatch = async (wallet, id) => {
  const { status, receipts } = await sendWalletRequest(wallet, "wallet_getCallsStatus", [id]);
  const lastReceipt = receipts?.at(-1);
  const isReverted = lastReceipt !== undefined && BigInt(lastReceipt.status) === 0n;
  // The older version reports a batch as confirmed even if it was reverted completely.
  const isLegacyReverted = status === "CONFIRMED" && isReverted;
  return {
    status: isLegacyReverted ? 500 : Number(legacyStatuses[status] ?? status),
    hash: lastReceipt?.transactionHash?.toLowerCase(),
    isReverted,
  };
};
