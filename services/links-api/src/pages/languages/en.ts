import type { Translated } from "@payment-links/http";
import type { NoInstructionsReason } from "../../domain/payment-instructions.ts";

/**
 * All English texts of the pages. `{name}` is a placeholder. Each other language has a similar file.
 * To add a language, translate this file and add the translation to `../languages.ts`.
 */
export const english = {
  /** The checkout and the receipt. */
  checkout: {
    states: {
      partial: "{received} of {asked} {symbol} received, {remaining} left.",
      remainderTooSmall:
        "{received} of {asked} {symbol} received. The remaining {remaining} {symbol} is too small to send on {chain}. Do not send anything more. Ask the seller to close this link.",
      completed: "Payment complete",
      paymentLimitReached:
        "Payment limit reached: {received} of {asked} {symbol} received. Do not pay again.",
    },
    /** Why a link that has ended cannot be paid, and what the visitor can do. */
    ended: {
      expired: {
        title: "This payment link has expired.",
        text: "Do not send anything to it. Ask the seller for a new link.",
      },
      inactive: {
        title: "The seller closed this payment link.",
        text: "Do not send anything to it. If you still want to pay, ask the seller for a new link.",
      },
      suspended: {
        title: "This payment link is on hold.",
        text: "The operator of this site suspended the seller's account. Do not send anything to this link. Contact the seller.",
      },
    },
    cannotPay: "You cannot pay here",
    /** Why an active link cannot be paid on this page. */
    unpayable: {
      chain_not_watched:
        "This page does not track payments on {chain}. Ask the seller how to pay. Do not send anything to an address yourself.",
      no_fee_proxy:
        "This token has no payment contract on {chain}. Ask the seller how to pay. Do not send anything to an address yourself.",
      amount_not_payable:
        "This amount cannot be sent on {chain}. Ask the seller for a link with another amount.",
      destination_not_payable:
        "The seller could not spend money at this address on {chain}. Ask the seller for a link with another address. Do not send anything to this one.",
    } satisfies Partial<Record<NoInstructionsReason, string>>,
    testMode: "Test mode. No real money.",
    testNetwork: "{chain} is a test network without real money.",
    unverified:
      "The operator of this site has not verified this seller. Pay only if you know and trust them.",
    seen: "Payment of {amount} {symbol} detected. Do not pay again.",
    wrongToken:
      "{amount} {wrong} received, but this link only accepts {symbol}. Do not send it again. Contact the seller. Transaction {hash}",
    pay: "Pay {amount} {symbol}",
    paidTo: "{amount} {symbol} paid to {owner}",
    returnToShop: "Return to shop",
    sentDirectly: "Sent directly to the seller's wallet",
    /** The ways to pay. */
    options: { title: "Payment method", wallet: "Wallet", qr: "QR code", exchange: "Exchange" },
    /** The steps of a payment. */
    progress: {
      title: "Payment progress",
      confirm: "Confirm in wallet",
      sent: "Sent",
      confirming: "Confirming",
      paid: "Paid",
    },
    title: "{amount} {symbol} to {owner}",
    labels: {
      token: "Token",
      network: "Network",
      tokenContract: "Token contract",
      received: "Received",
      usage: " ({count} of {most} payments)",
      expires: "Expires",
      description: "Description",
      advanced: "Advanced",
      settlesTo: "Seller's wallet",
      amount: "Amount",
      address: "Address",
      link: "Payment link",
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
      network: "Copy network",
      link: "Copy link",
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
      /** The form that sends the receipt by email. */
      email: {
        title: "Email this receipt",
        address: "Email address",
        hint: "We use the address only for this email and do not store it.",
        send: "Send receipt",
        sent: "Receipt sent. Check your inbox.",
        invalid: "Enter a valid email address.",
        rejected: "The mail server rejected this address. Check it and try again.",
        tooMany: "Too many receipts were requested. Try again later.",
        failed: "We couldn't send the receipt. Try again later.",
      },
    },
    noScript: "To pay manually, send the transactions under Advanced.",
    qr: {
      alternative: "QR code for this page",
      caption: "Scan to open this page on your phone and pay there.",
    },
    apps: {
      open: "Open in {name}",
      more: "Other wallet apps",
    },
    plainTransfer:
      "A plain transfer to the seller's address does not pay this link. Pay through the contract below.",
    /** Texts of the page's script. */
    script: {
      noWallet:
        "No wallet found in this browser. Scan the QR code with your phone, or install a wallet and reload this page.",
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
        "Your wallet changed the payment, so it arrived without this link's reference. Do not pay again. Ask the seller to match it. Transaction {hash}",
      uncounted:
        "Payment received but not applied to this link. Do not pay again. Contact the seller. Transaction {hash}",
      failed: "Your payment failed. Nothing was paid. You can pay again.",
      refused: "The network rejected your transaction. Nothing was paid. You can pay again.",
      replaced:
        "Another transaction from your wallet replaced the payment. This payment was not made. You can pay again.",
      rejected: "You rejected the request. Nothing was paid. You can try again.",
      busyWallet: "Your wallet has a pending request. Finish it there and try again.",
      wrongNetwork: "Your wallet is on another network. Switch to {chain} and try again.",
      unknownNetwork: "Your wallet doesn't have the {chain} network. Add it and try again.",
      notAllowed:
        "Your wallet isn't connected to this page. Unlock it, allow the connection and try again. Nothing was paid.",
      cannotPay:
        "This wallet can't make this payment. Nothing was paid. Use another wallet or pay manually under Advanced.",
      lacksToken:
        "{account} has {balance} {symbol} but needs {amount}. Nothing was sent. Add funds or switch accounts, then try again.",
      lacksGas:
        "{account} needs more {coin} for the network fee. Add some and try again. Nothing was sent.",
      blocked:
        "The token contract would reject this payment. It may block your address or the seller's. Nothing was paid. Switch accounts or ask the seller how to pay.",
      chainDown: "Your wallet can't reach {chain}. Nothing was paid. Try again in a moment.",
      stopped:
        "Your wallet connects to {chain} through a server that this page doesn't allow. Nothing was paid. Use another wallet or pay manually under Advanced.",
      walletFailed:
        "Your wallet reported an error. Nothing was paid. Try again or use another wallet.",
      allowanceRefused: "The network rejected the approval. Nothing was paid. You can try again.",
      allowanceWaits: "The approval is still pending. Nothing was paid. You can try again.",
      changed: "This link has changed. Review it before you pay.",
      otherTab: "This link is being paid in another tab. Continue there.",
      offline: "Can't update. Reconnecting…",
      gone: "My payment didn't go through",
      otherMethod: "Change payment method",
    },
    confirmGone: {
      title: "Did your payment really fail?",
      text: "Continue only if your wallet shows that the payment was canceled, failed or was never sent. If it still arrives, you will have paid twice, and this page can't undo it.",
      wait: "Keep waiting",
      gone: "Allow new payment",
    },
  },
  /**
   * Payments that the page's script does not make: payment requests that a wallet opens, and manual
   * payments.
   */
  manualPayment: {
    payInWallet: "Pay {amount} {symbol} in your wallet",
    qr: {
      alternative: "QR code of the payment request",
      caption: "Scan with your wallet app.",
    },
    solana:
      "Wallets with Solana Pay fill in everything. A plain transfer to the seller does not pay this link.",
    solanaTransferRequest: {
      title: "Wallet not opening?",
      text: "Your wallet creates this payment itself, for the current amount. Reload this page before you use it later.",
      payWithRequest: "Open transfer request",
      alternative: "QR code of the transfer request",
    },
    exchange: {
      /** This text is for chains on which the service tracks plain transfers. */
      withdraw:
        "In Coinbase, Kraken or another exchange, withdraw {symbol} to this address on the {chain} network, without a memo. Exactly {amount} {symbol} must arrive, after the exchange's fee.",
      addressNamesLink: "This link is paid once the network confirms the payment.",
      assignedManually:
        "Send the seller your transaction ID so they can match your payment. Do not pay again with a wallet.",
      notTracked:
        "A payment from an exchange cannot be matched to this link. Withdraw to your own wallet first, then pay from there.",
    },
    bitcoin:
      "This address is only for this link. Send the exact amount, once. Your wallet adds its fee. The link is paid after confirmation.",
  },
  /** Texts of the page's script that only links on Tron use, or that are different there. */
  tron: {
    /** How to pay manually. */
    manual:
      "To pay manually, send the two transactions below in order from a Tron wallet. They need up to {energy} energy. If your account has no energy, they burn up to {fee} TRX, but usually much less.",
    noWallet:
      "No Tron wallet found in this browser. Scan the QR code with your phone, or install a wallet and reload this page.",
    account: "{account} has {balance} {symbol}, {coins} {coin} and {energy} energy",
    /** This text is appended to the description of the step that the payer has to confirm. */
    fee: "This needs {needed} energy. Missing energy costs about {cost} {coin}, at most {limit}.",
    asked:
      "Your wallet has not reported a result. If you confirmed the payment there, wait here and do not pay again. If it is not confirmed, it expires in about 2 minutes, and you can pay again.",
    wrongNetwork:
      "Your wallet is on another network. Select {chain} there and try again. Nothing was paid.",
    notAllowed:
      "Your wallet is locked or has no account. Unlock it and try again. Nothing was paid.",
    lacksGas:
      "{account} has {coins} {coin}, but this step costs about {cost} for missing energy. Add {coin} and try again. Nothing was paid.",
    lacksBandwidth:
      "Your account needs more {coin} for the bandwidth fee. Add some and try again. Nothing was paid.",
    tooDear:
      "This step needs {needed} energy, more than the fee limit of {limit} {coin} covers. Nothing was paid. Ask the seller how to pay.",
    different:
      "Your wallet created a different transaction than requested. Nothing was paid. Use another wallet or pay manually under Advanced.",
    nodeRefused:
      "Your wallet's node rejected the transaction. Nothing was paid. Try again or choose another node in your wallet.",
    late: "Your confirmation came too late. Nothing was paid. Try again and confirm within a minute.",
    unanswered: "The request in your wallet expired. Nothing was paid. You can try again.",
    expired:
      "Your payment expired before a block included it. Nothing was paid. You can pay again.",
    outOfEnergy:
      "Your transaction ran out of energy. The fee was charged, but nothing was paid. You can pay again.",
    stopped:
      "Your wallet uses a node that this page doesn't allow. Nothing was paid. Choose your wallet's default node, use another wallet or pay manually under Advanced.",
  },
  /**
   * Texts that a Solana wallet shows if no transaction is created. Wallets show at least the first
   * 80 characters of each text.
   */
  wallet: {
    unknown: "This payment link doesn't exist. Nothing was paid.",
    elsewhere: "This link can't be paid on Solana. Nothing was paid.",
    completed: "This link is already paid. Do not pay again.",
    expired: "This link has expired. Nothing was paid.",
    inactive: "The seller closed this link. Nothing was paid.",
    held: "This link is on hold. Nothing was paid.",
    own_account: "This account receives the payment. Pay from another account.",
    payment_seen: "A payment was detected and is being confirmed. Do not pay again.",
    balance_too_low: "Not enough {symbol}: you need {amount} but have {balance}.",
    noAccount: "Your wallet did not send a valid account. Nothing was paid.",
    lost: "This link's address isn't a wallet. Nothing was paid. Contact the seller.",
    away: "Solana can't be reached right now. Nothing was paid. Try again soon.",
    tooMany: "Too many requests. Nothing was paid. Try again soon.",
    failed: "Something went wrong. Nothing was paid. Try again soon.",
  },
  /** Pages that do not involve a payment. */
  site: {
    home: {
      introduction:
        "Request stablecoin payments with a link. Payments go straight to your own wallet.",
      console: "Open console",
      payerHint:
        "Received a payment link? Open it exactly as it was sent. The page shows who requests the payment and the amount.",
      docs: "Documentation for developers",
    },
    console: {
      needsScript: "The console needs JavaScript. You can use a sign-in link without it:",
      link: "Sign-in link",
      submit: "Continue",
    },
    errorPages: {
      404: {
        title: "Page not found",
        text: "The link may be incomplete. Open it exactly as it was sent to you, or ask the sender for a new one.",
      },
      429: {
        title: "Too many requests",
        text: "Wait a moment and reload the page.",
      },
      failed: { title: "Something went wrong", text: "Try again in a moment." },
    },
  },
} as const;

/** The texts that each language must provide. */
export type Texts = Translated<typeof english>;
