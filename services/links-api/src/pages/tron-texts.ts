import type { Translated } from "@payment-links/http";

/** The texts of the checkout's script that differ or are added for links on Tron. */
export const tronTexts = {
  noWallet:
    "There is no Tron wallet in this browser. Open this page in TronLink's own browser, or pay by hand with " +
    "what is under Details.",
  account: "{account} has {balance} {symbol}, {coins} {coin} and {energy} energy",
  /** Appended to the description of the step to confirm. */
  fee: "It takes {needed} energy; for what your account lacks, about {cost} {coin} are burnt, and never more than {limit}.",
  asked:
    "Your wallet was asked for this payment and has not answered this page. Look there: if you confirmed it, " +
    "wait here and do not pay again. If nobody confirms it, it runs out in about two minutes, and you can pay again.",
  wrongNetwork:
    "Your wallet is on another network. Choose {chain} in its list of networks, then try again. Nothing was paid.",
  notAllowed:
    "Your wallet is locked, or has no account. Unlock it, then try again. Nothing was paid.",
  lacksGas:
    "{account} has {coins} {coin}, and this step would burn about {cost} for the energy that it lacks. Add some " +
    "{coin}, then try again. Nothing was paid.",
  lacksBandwidth:
    "Your account has too little {coin} for the size of the transaction. Add some, then try again. Nothing was paid.",
  tooDear:
    "This step takes {needed} energy right now, which is more than {limit} {coin} pay for, so it would fail. " +
    "Nothing was paid; ask the owner how to pay.",
  different:
    "Your wallet made another transaction than this page asked for. Nothing was paid; take another wallet, or " +
    "pay by hand with what is under Details.",
  nodeRefused:
    "Your wallet's node did not take what you signed. Nothing was paid; try again, or choose another node in " +
    "your wallet.",
  late: "What you signed came too late for the network. Nothing was paid; try again, and confirm within a minute.",
  unanswered:
    "Nobody confirmed it in your wallet in its time. Nothing was paid; you can try again.",
  expired:
    "No block took your payment in its time, and none can any more. Nothing was paid by it. You can pay again.",
  outOfEnergy:
    "Your transaction ran out of energy: its fee is gone, and nothing was paid by it. You can pay again.",
  stopped:
    "Your wallet asks another node than the network's usual one, which this page does not let it do. Nothing was " +
    "paid; choose the usual node in your wallet, take another wallet, or pay by hand with what is under Details.",
} as const;

/** The texts that every language must provide. */
export type TronTexts = Translated<typeof tronTexts>;
