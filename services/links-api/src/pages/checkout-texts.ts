import type { NoInstructionsReason } from "../domain/payment-instructions.ts";
import type { Translated } from "@payment-links/http";

/**
 * All English texts of the checkout. `{name}` is a placeholder. Each other language has a similar
 * file.
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
    partial: "{received} of {asked} {symbol} received, {remaining} left.",
    remainderTooSmall:
      "{received} of {asked} {symbol} received. The remaining {remaining} {symbol} is too small " +
      "to send on {chain}. Do not send anything more. Ask the seller to close this link.",
    completed: "Payment complete",
    paymentLimitReached:
      "Payment limit reached: {received} of {asked} {symbol} received. Do not pay again.",
    expired: "This payment link has expired. Do not send anything to it.",
    inactive: "The seller closed this payment link. Do not send anything to it.",
    suspended: "This payment link is on hold. Do not send anything to it.",
  },
  /** Why an active link cannot be paid on this page. */
  unpayable: {
    chain_not_watched:
      "You cannot pay here: this page does not track payments on {chain}. Ask the seller how to " +
      "pay. Do not send anything to an address yourself.",
    no_fee_proxy:
      "You cannot pay here: this token has no payment contract on {chain}. Ask the seller how " +
      "to pay. Do not send anything to an address yourself.",
    amount_not_payable:
      "You cannot pay this amount on {chain}. Ask the seller for a link with another amount.",
    destination_not_payable:
      "You cannot pay here: the seller could not spend money at this address on {chain}. Ask " +
      "the seller for a link with another address. Do not send anything to this one.",
  } satisfies Partial<Record<NoInstructionsReason, string>>,
  testNetwork: "TEST: {chain} is a test network. Payments here have no value.",
  unverified:
    "The operator of this site has not verified this seller. Pay only if you know and trust them.",
  seen: "Payment of {amount} {symbol} detected. Do not pay again.",
  wrongToken:
    "{amount} {wrong} received, but this link only accepts {symbol}. Do not send it again. " +
    "Contact the seller. Transaction {hash}",
  pay: "Pay {amount} {symbol}",
  title: "{amount} {symbol} to {owner}",
  labels: {
    token: "Token",
    network: "Network",
    tokenContract: "Token contract",
    received: "Received",
    usage: " ({count} of {most} payments)",
    expires: "Expires",
    details: "Details",
    settlesTo: "Paid to",
    paymentContract: "Payment contract",
    paymentReference: "Payment reference",
    on: "Network",
    chain: "{name} (chain ID {id})",
    to: "To",
    value: "Value (base units)",
    data: "Data",
  },
  copy: {
    copy: "Copy",
    copied: "Copied",
    amount: "Copy amount",
    paymentContract: "Copy payment contract",
    paymentReference: "Copy payment reference",
    to: "Copy address",
    value: "Copy value",
    data: "Copy data",
  },
  stepsTitle: "Send these transactions in order",
  steps: {
    reset_allowance: "Reset your previous approval. Skip this step if you have none.",
    approve: "Approve exactly this amount for the payment contract.",
    pay: "Pay. The contract sends the amount straight to the seller.",
  },
  explorer: "View transaction on {host}",
  expiresIn: "Expires in {left}",
  lastReceipt: "View receipt",
  receipt: {
    title: "Receipt: {amount} {symbol} to {owner}",
    badge: "Paid",
    state: "Payment settled",
    amount: "Amount paid",
    asked: "Requested",
    received: "Total received",
    paidTo: "Paid to",
    sourceTransaction: "Transaction ID",
    paid: "Date paid",
    id: "Payment ID",
    link: "View payment link",
    print: "Print receipt",
  },
  noScript: "To pay manually, send the transactions under Details.",
  qr: {
    alternative: "QR code for this page",
    caption: "Scan to pay on your phone",
  },
  apps: {
    title: "Open this page in your wallet app",
    open: "Open in {name}",
  },
  plainTransfer:
    "A plain transfer to the seller's address does not pay this link. Pay through the contract below.",
  /** Texts of the page's script. */
  script: {
    noWallet: "Choose how to pay",
    choose: "Choose a wallet",
    browserWallet: "Browser wallet",
    connecting: "Approve the connection in your wallet.",
    account: "{account} has {balance} {symbol}",
    checking: "Checking your balance…",
    allow: "Step {step} of {steps}: approve exactly this amount for the payment contract.",
    allowing: "Approval sent. You have not paid yet. Waiting for the network…",
    payStep: "Step {step} of {steps}: confirm the payment in your wallet.",
    confirm: "Confirm the payment in your wallet.",
    asked:
      "Your wallet has not reported a result. If you confirmed the payment there, wait here and do not pay again.",
    confirmBoth:
      "Confirm in your wallet: approve exactly this amount for the payment contract and pay it in one step.",
    taken: "Your wallet accepted the payment. Waiting for the network. Do not pay again.",
    sent: "Sent. Waiting for the network. Do not pay again. Transaction {hash}",
    mined: "In a block. Waiting for confirmation. Do not pay again. Transaction {hash}",
    seen: "Payment of {amount} {symbol} detected. Do not pay again.",
    confirming: "Confirming ({seen} of {needed})",
    changedByWallet:
      "Your wallet changed the payment, so it arrived without this link's reference. Do not pay " +
      "again. Ask the seller to match it. Transaction {hash}",
    uncounted:
      "Payment received but not applied to this link. Do not pay again. Contact the seller. " +
      "Transaction {hash}",
    failed: "Your payment failed. Nothing was paid. You can pay again.",
    refused: "The network rejected your transaction. Nothing was paid. You can pay again.",
    replaced:
      "Another transaction from your wallet replaced the payment. This payment was not made. You " +
      "can pay again.",
    rejected: "You rejected the request. Nothing was paid. You can try again.",
    busyWallet: "Your wallet has a pending request. Finish it there and try again.",
    wrongNetwork: "Your wallet is on another network. Switch to {chain} and try again.",
    unknownNetwork: "Your wallet doesn't have the {chain} network. Add it and try again.",
    notAllowed:
      "Your wallet isn't connected to this page. Unlock it, allow the connection and try again. " +
      "Nothing was paid.",
    cannotPay:
      "This wallet can't make this payment. Nothing was paid. Use another wallet or pay " +
      "manually under Details.",
    lacksToken:
      "{account} has {balance} {symbol} but needs {amount}. Nothing was sent. Add funds or " +
      "switch accounts, then try again.",
    lacksGas:
      "{account} needs more {coin} for the network fee. Add some and try again. Nothing was sent.",
    blocked:
      "The token contract would reject this payment. It may block your address or the seller's. " +
      "Nothing was paid. Switch accounts or ask the seller how to pay.",
    chainDown: "Your wallet can't reach {chain}. Nothing was paid. Try again in a moment.",
    stopped:
      "Your wallet connects to {chain} through a server that this page doesn't allow. Nothing " +
      "was paid. Use another wallet or pay manually under Details.",
    walletFailed:
      "Your wallet reported an error. Nothing was paid. Try again or use another wallet.",
    allowanceRefused: "The network rejected the approval. Nothing was paid. You can try again.",
    allowanceWaits: "The approval is still pending. Nothing was paid. You can try again.",
    changed: "This link has changed. Review it before you pay.",
    otherTab: "This link is being paid in another tab. Continue there.",
    offline: "Can't update. Reconnecting…",
    gone: "My payment didn't go through",
  },
  confirmGone: {
    title: "Did your payment really fail?",
    text:
      "Continue only if your wallet shows that the payment was canceled, failed or was never " +
      "sent. If it still arrives, you will have paid twice, and this page can't undo it.",
    wait: "Keep waiting",
    gone: "Allow new payment",
  },
} as const;

/** The texts that each language of the checkout must provide. */
export type CheckoutTexts = Translated<typeof checkoutTexts>;
