// What the checkout page does beyond showing: it follows the link's state, and pays with the browser's
// own wallet where there is one. Everything that came from outside is put into the page as text.

const section = document.querySelector("#pay");
const live = document.querySelector("#live");
const walletButton = document.querySelector("#wallet");
const { link: linkId, chain: chainId } = section.dataset;

const pollMs = 4_000;
const receiptPollMs = 2_000;
const receiptTriesMax = 300;
const wordDigits = 64;

const say = (text) => {
  live.textContent = text;
};

const pause = (milliseconds) => new Promise((resolve) => setTimeout(resolve, milliseconds));

/** An error whose text is for the payer. */
class Told extends Error {}

const readLink = async () => {
  const answer = await fetch(`/checkout/payment-links/${encodeURIComponent(linkId)}`);
  if (!answer.ok) throw new Told("How this link stands cannot be read right now.");
  return answer.json();
};

const textOf = ({ pendingPayments, token }) => {
  const [pending] = pendingPayments;
  return pending === undefined
    ? ""
    : `A payment of ${pending.amount} ${token.symbol} was seen and is being confirmed. Do not pay again.`;
};

let shown;
let isPaying = false;

/** Once the link has changed, the server's page shows best what it is now. */
const follow = async () => {
  for (;;) {
    await pause(pollMs);
    if (document.hidden) continue;
    const link = await readLink().catch(() => undefined);
    if (link === undefined) continue;
    const state = `${link.status} ${link.receivedAmount} ${link.reason}`;
    if (shown !== undefined && shown !== state) location.reload();
    shown = state;
    if (!isPaying || link.pendingPayments.length > 0) say(textOf(link));
  }
};

const wallet = window.ethereum;
const ask = (method, ...params) => wallet.request({ method, params });

const chooseChain = async () => {
  const wanted = `0x${BigInt(chainId).toString(16)}`;
  if (BigInt(await ask("eth_chainId")) === BigInt(wanted)) return;
  await ask("wallet_switchEthereumChain", { chainId: wanted });
  if (BigInt(await ask("eth_chainId")) !== BigInt(wanted)) {
    throw new Told("The wallet is on another network than this payment link.");
  }
};

const word = (address) => address.slice(2).toLowerCase().padStart(wordDigits, "0");

/** ERC-20 `allowance(owner, spender)`. */
const readAllowance = async (token, owner, spender) => {
  const data = `0xdd62ed3e${word(owner)}${word(spender)}`;
  return BigInt(await ask("eth_call", { to: token, data }, "latest"));
};

const waitMined = async (hash) => {
  for (let tries = 0; tries < receiptTriesMax; tries += 1) {
    const receipt = await ask("eth_getTransactionReceipt", hash);
    if (receipt && BigInt(receipt.status) === 1n) return;
    if (receipt) throw new Told("The network refused the transaction; nothing was paid by it.");
    await pause(receiptPollMs);
  }
  throw new Told("The transaction is not in a block yet. Look at it in your wallet.");
};

const pay = async () => {
  const [from] = await ask("eth_requestAccounts");
  await chooseChain();
  const { instructions } = await readLink();
  if (instructions === null) throw new Told("This link takes no payment right now.");
  for (const { kind, to, value, data } of instructions.steps) {
    if (kind === "reset_allowance") {
      const allowance = await readAllowance(to, from, instructions.proxyAddress);
      if (allowance === 0n) continue;
    }
    say(kind === "pay" ? "Confirm the payment in your wallet." : "Confirm the allowance.");
    const sent = { from, to, data, value: `0x${BigInt(value).toString(16)}` };
    const hash = await ask("eth_sendTransaction", sent);
    say("Sent. Waiting for the network.");
    await waitMined(hash);
  }
  say("Paid. It is being confirmed; this page will say so.");
};

if (wallet !== undefined) {
  walletButton.hidden = false;
  walletButton.addEventListener("click", async () => {
    walletButton.disabled = true;
    isPaying = true;
    try {
      await pay();
    } catch (error) {
      say(error instanceof Told ? error.message : "The wallet did not carry this out.");
      walletButton.disabled = false;
    }
  });
}

await follow();
