import type { Translated } from "@payment-links/http";

/**
 * The English texts of the checkout for payments by request or by hand, without this page's script.
 */
export const manualPaymentTexts = {
  payInWallet: "Pay {amount} {symbol} in your wallet",
  qr: {
    alternative: "QR code of the payment request",
    caption: "Or scan this code with the wallet on your phone.",
  },
  amount: "Exact amount",
  address: "To",
  copyAmount: "Copy the amount",
  solana:
    "Any wallet that knows Solana Pay fills everything in. A plain transfer to the owner lacks this " +
    "link's reference and does not complete it.",
  solanaTransferRequest: {
    title: "Does your wallet not open it?",
    text:
      "This request asks your wallet to make the payment by itself. It is for the amount of now: load " +
      "this page anew before you use it later.",
    payWithRequest: "Pay by this request",
    alternative: "QR code of the request by which a wallet makes the payment itself",
  },
  exchange: {
    title: "Is your money at an exchange?",
    /** Where the service tracks what the exchange sends. */
    withdraw:
      "Withdraw so that exactly {amount} {symbol} arrive on the network {chain}, without a memo, at " +
      "{address}.",
    addressNamesLink:
      "The address is this link's own: the link is paid once the network has confirmed it.",
    assignedManually:
      "It does not say what it is for, so this link stays open: tell its owner the transaction, who " +
      "assigns it to this link by hand. Do not pay here as well.",
    notTracked:
      "An exchange cannot say what it is for, and the owner would not be told that it came. Withdraw to a " +
      "wallet of your own first, and pay from there.",
  },
  bitcoin:
    "This address is for this link alone. Send the exact amount, once; your wallet's fee comes on top. " +
    "It counts once the network has confirmed it.",
  tron:
    "To pay by hand, send the two calls under Details from a Tron wallet, one after the other. They take up " +
    "to {energy} energy; without energy up to {fee} TRX is burnt, in most cases much less.",
} as const;

/** The texts that every language must provide. */
export type ManualPaymentTexts = Translated<typeof manualPaymentTexts>;
