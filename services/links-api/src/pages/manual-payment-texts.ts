import type { Translated } from "@payment-links/http";

/**
 * The English texts for payments that the page's script does not make: payment requests that a
 * wallet opens, and manual payments.
 */
export const manualPaymentTexts = {
  payInWallet: "Pay {amount} {symbol} in your wallet",
  qr: {
    alternative: "QR code of the payment request",
    caption: "Or scan with your phone's wallet app",
  },
  amount: "Exact amount",
  address: "To",
  solana:
    "Wallets with Solana Pay fill in everything. A plain transfer to the seller does not pay this link.",
  solanaTransferRequest: {
    title: "Wallet not opening?",
    text:
      "Your wallet creates this payment itself, for the current amount. Reload this page before " +
      "you use it later.",
    payWithRequest: "Open transfer request",
    alternative: "QR code of the transfer request",
  },
  exchange: {
    title: "Pay from Coinbase, Kraken or another exchange",
    /** This text is for chains on which the service tracks plain transfers. */
    withdraw:
      "Withdraw to {address} on the {chain} network, without a memo. Exactly {amount} {symbol} must arrive.",
    addressNamesLink: "This link is paid once the network confirms the payment.",
    assignedManually:
      "Send the seller your transaction ID so they can match your payment. Do not pay here as well.",
    notTracked:
      "A payment from an exchange cannot be matched to this link. Withdraw to your own wallet " +
      "first, then pay from there.",
  },
  bitcoin:
    "This address is only for this link. Send the exact amount, once. Your wallet adds its fee. " +
    "The link is paid after confirmation.",
  tron:
    "To pay manually, send the two transactions under Details in order from a Tron wallet. They " +
    "need up to {energy} energy. If your account has no energy, they burn up to {fee} TRX, but " +
    "usually much less.",
} as const;

/** The texts that each language must provide. */
export type ManualPaymentTexts = Translated<typeof manualPaymentTexts>;
