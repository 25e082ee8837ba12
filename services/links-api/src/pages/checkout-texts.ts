import type { NoInstructionsReason } from "../domain/payment-instructions.ts";
import type { Translated } from "@payment-links/http";

/**
 * Every English text of the checkout; `{name}` is a placeholder. Each other language has its own
 * such file.
 */
export const checkoutTexts = {
  badges: {
    active: "Active",
    completed: "Completed",
    expired: "Expired",
    inactive: "Closed",
    suspended: "On hold",
  },
  states: {
    active: "This payment link is open.",
    partial: "{received} of {asked} {symbol} received, {remaining} left.",
    remainderTooSmall:
      "{received} of {asked} {symbol} received. The missing {remaining} {symbol} is too small to be " +
      "sent on {chain}. Send nothing more, and ask the owner to close this payment link.",
    completed: "This payment link has been paid. Do not pay it again.",
    paymentLimitReached:
      "This payment link has had all the payments that it takes: {received} of {asked} {symbol} " +
      "arrived. Do not pay it again.",
    expired: "This payment link has expired. Do not send anything to it.",
    inactive: "Its owner has closed this payment link. Do not send anything to it.",
    suspended: "This payment link takes no payments right now. Do not send anything to it.",
  },
  /** Why a link that is active cannot be paid here. */
  unpayable: {
    chain_not_watched:
      "It cannot be paid on this page, as payments on {chain} are not followed here. Ask its owner " +
      "how to pay, and send nothing to an address by yourself.",
    no_fee_proxy:
      "It cannot be paid on this page, as there is no payment contract for its token on {chain}. " +
      "Ask its owner how to pay, and send nothing to an address by yourself.",
    amount_not_payable:
      "It cannot be paid, as no payment on {chain} can have its amount. Ask its owner for another.",
    destination_not_payable:
      "It cannot be paid, because its owner could not spend money sent to its address on {chain}. " +
      "Ask its owner for a link to another address, and send nothing to this one.",
  } satisfies Partial<Record<NoInstructionsReason, string>>,
  testNetwork: "TEST: {chain} is a test network. Nothing here is worth anything.",
  unverified:
    "The operator of this site has not verified this seller. Pay only if you know and trust them.",
  seen: "A payment of {amount} {symbol} was seen and is being confirmed. Do not pay again.",
  wrongToken:
    "{amount} {wrong} arrived, but {wrong} is not {symbol} and does not pay this link. Do not send it " +
    "again; ask the owner about it. Transaction {hash}",
  pay: "Pay {amount} {symbol}",
  title: "{amount} {symbol} to {owner}",
  labels: {
    token: "Token",
    network: "Network",
    tokenContract: "Token contract",
    received: "Received",
    usage: ", in {count} of at most {most} payments",
    expires: "Expires",
    details: "Details",
    settlesTo: "Settles to",
    paymentContract: "Payment contract",
    paymentReference: "Payment reference",
    on: "On",
    chain: "{name} (chain {id})",
    to: "To",
    value: "Value, in base units",
    data: "Data",
  },
  copy: {
    copy: "Copy",
    paymentContract: "Copy the payment contract",
    paymentReference: "Copy the payment reference",
    to: "Copy the address",
    value: "Copy the value",
    data: "Copy the data",
  },
  stepsTitle: "Transactions to send from your wallet, in this order",
  steps: {
    reset_allowance: "Take back an earlier allowance; not needed where there is none.",
    approve: "Allow the payment contract to move exactly this amount.",
    pay: "Pay: the contract moves it straight to the owner, under this link's reference.",
  },
  explorer: "Look at the transaction on {host}",
  expiresIn: "Expires in {left}",
  lastReceipt: "Receipt of the last payment",
  receipt: {
    title: "Receipt: {amount} {symbol} to {owner}",
    badge: "Settled",
    state: "This payment has settled.",
    amount: "This payment",
    asked: "Asked for",
    received: "Received by now",
    paidTo: "Paid to",
    sourceTransaction: "Payer's transaction",
    paid: "Paid",
    id: "Transaction",
    link: "The payment link",
    print: "Print this receipt",
  },
  noScript: "To pay by hand, send the transactions under Details from your wallet.",
  qr: {
    alternative: "QR code of this page's address",
    caption: "To pay from your phone, scan this code with its camera.",
  },
  apps: {
    title: "Open this page in a wallet that you have on this device:",
    open: "Open in {name}",
  },
  plainTransfer:
    "A plain transfer to the owner's address cannot be told apart and does not complete this " +
    "link: pay through the contract below.",
  /** Texts of the page's script. */
  script: {
    noWallet:
      "There is no wallet in this browser. Open this page in your wallet's own browser, or pay by " +
      "hand with what is under Details.",
    choose: "Choose a wallet",
    browserWallet: "This browser's wallet",
    connecting: "Your wallet asks whether this page may see your account.",
    account: "{account} has {balance} {symbol}",
    checking: "Looking at your balance.",
    allow: "Step {step} of {steps}: allow the payment contract to take exactly this amount.",
    allowing: "The allowance was sent; no payment yet. Waiting for the network.",
    payStep: "Step {step} of {steps}: confirm the payment in your wallet.",
    confirm: "Confirm the payment in your wallet.",
    asked:
      "Your wallet was asked for this payment and has not answered this page. Look there: if you " +
      "confirmed it, wait here and do not pay again.",
    confirmBoth:
      "Confirm in your wallet: it allows the payment contract to take exactly this amount, and pays it, " +
      "as one.",
    taken: "Your wallet has taken the payment. Waiting for the network. Do not pay again.",
    sent: "Sent. Waiting for the network. Do not pay again. Transaction {hash}",
    mined: "In a block. Waiting until it is seen here. Do not pay again. Transaction {hash}",
    seen: "A payment of {amount} {symbol} was seen and is being confirmed. Do not pay again.",
    confirming: "Confirming ({seen} of {needed})",
    changedByWallet:
      "Your wallet has changed the payment: the money arrived, but no longer names this link. Do not pay " +
      "again; ask the owner to assign it. Transaction {hash}",
    uncounted:
      "Your payment arrived but does not count on this link. Do not pay again; ask its owner. " +
      "Transaction {hash}",
    failed: "Your payment failed: it is not on the chain. You can pay again.",
    refused: "The network refused your transaction; nothing was paid by it. You can pay again.",
    replaced:
      "Another transaction of your wallet took the payment's place, so nothing was paid by it. " +
      "You can pay again.",
    rejected: "You declined in your wallet. Nothing was paid; you can try again.",
    busyWallet: "Your wallet has an open question. Answer it there, then try again.",
    wrongNetwork: "Your wallet is on another network. Switch it to {chain}, then try again.",
    unknownNetwork:
      "Your wallet does not know {chain}. Add this network in your wallet, then try again.",
    notAllowed:
      "Your wallet does not let this page use your account. Unlock it and allow that, then try again. " +
      "Nothing was paid.",
    cannotPay:
      "This wallet cannot pay here. Nothing was paid; take another wallet, or pay by hand with what is " +
      "under Details.",
    lacksToken:
      "{account} has {balance} {symbol}, which is less than {amount}. Nothing was sent; add some, or " +
      "take another account of your wallet, then try again.",
    lacksGas:
      "{account} has too little {coin} for the network's fee. Add some, then try again. Nothing was sent.",
    blocked:
      "The token's contract would refuse this payment: it may block your address or the owner's. " +
      "Nothing was paid; take another account, or ask the owner how to pay.",
    chainDown:
      "Your wallet cannot reach {chain} right now. Nothing was paid; try again in a moment.",
    stopped:
      "Your wallet reads {chain} at a node that this page does not allow. Nothing was paid; open this page " +
      "in another wallet, or pay by hand with what is under Details.",
    walletFailed:
      "Your wallet reported an error. Nothing was paid; try again, or use another wallet.",
    allowanceRefused: "The network refused the allowance. Nothing was paid; you can try again.",
    allowanceWaits: "The allowance is not in a block yet. Nothing was paid; you can try again.",
    changed: "This link has changed. Look at it again before you pay.",
    otherTab: "This link is being paid in another tab. Go on there.",
    offline: "How this link stands cannot be read right now. Trying again.",
    gone: "It never arrived, or was cancelled",
    copied: "Copied",
  },
  confirmGone: {
    title: "Is the first payment really gone?",
    text:
      "Go on only if your wallet shows that it was cancelled, has failed or was never sent. If it " +
      "arrives later as well, you will have paid twice, and this page cannot call it back.",
    wait: "Keep waiting",
    gone: "It is gone, let me pay again",
  },
} as const;

/** The texts that every language of the checkout must provide. */
export type CheckoutTexts = Translated<typeof checkoutTexts>;
