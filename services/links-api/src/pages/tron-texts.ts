import type { Translated } from "@payment-links/http";

/**
 * The texts that the checkout's script uses only for links on Tron, or that are different there.
 */
export const tronTexts = {
  noWallet: "No Tron wallet found. Choose how to pay.",
  account: "{account} has {balance} {symbol}, {coins} {coin} and {energy} energy",
  /** This text is appended to the description of the step that the payer has to confirm. */
  fee: "This needs {needed} energy. Missing energy costs about {cost} {coin}, at most {limit}.",
  asked:
    "Your wallet has not reported a result. If you confirmed the payment there, wait here and do not " +
    "pay again. If it is not confirmed, it expires in about 2 minutes, and you can pay again.",
  wrongNetwork:
    "Your wallet is on another network. Select {chain} there and try again. Nothing was paid.",
  notAllowed: "Your wallet is locked or has no account. Unlock it and try again. Nothing was paid.",
  lacksGas:
    "{account} has {coins} {coin}, but this step costs about {cost} for missing energy. Add " +
    "{coin} and try again. Nothing was paid.",
  lacksBandwidth:
    "Your account needs more {coin} for the bandwidth fee. Add some and try again. Nothing was paid.",
  tooDear:
    "This step needs {needed} energy, more than the fee limit of {limit} {coin} covers. Nothing " +
    "was paid. Ask the seller how to pay.",
  different:
    "Your wallet created a different transaction than requested. Nothing was paid. Use another " +
    "wallet or pay manually under Details.",
  nodeRefused:
    "Your wallet's node rejected the transaction. Nothing was paid. Try again or choose another " +
    "node in your wallet.",
  late: "Your confirmation came too late. Nothing was paid. Try again and confirm within a minute.",
  unanswered: "The request in your wallet expired. Nothing was paid. You can try again.",
  expired: "Your payment expired before a block included it. Nothing was paid. You can pay again.",
  outOfEnergy:
    "Your transaction ran out of energy. The fee was charged, but nothing was paid. You can pay again.",
  stopped:
    "Your wallet uses a node that this page doesn't allow. Nothing was paid. Choose your " +
    "wallet's default node, use another wallet or pay manually under Details.",
} as const;

/** The texts that each language must provide. */
export type TronTexts = Translated<typeof tronTexts>;
