import { pickTranslation } from "../../../ui/language.ts";

/** The texts of the refund dialog. */
export const texts = pickTranslation({
  en: {
    title: "Refund payment",
    tokenOnNetwork: (token: string, network: string) => `${token} on ${network}`,
    amount: "Amount",
    address: "Address",
    addressHint: "The sender of the payment.",
    addressMissing: "This payment has no known sender. Ask your customer for an address.",
    confirmAddress:
      "Confirm the address with your customer. If the payment came from an exchange, its address may not accept refunds, and the money would be lost.",
    alreadyRefunded: (amount: string) =>
      `You already recorded refunds of ${amount} for this payment.`,
    openWallet: "Open wallet",
    recordManually: "Already sent? Record it",
    recordTitle: "Record a refund",
    recordText:
      "Enter the transaction of a refund that you sent with another wallet. It is not verified.",
    transactionId: "Transaction ID",
    record: "Record refund",
    back: "Back",
    close: "Close",
    chooseWallet: "Choose a wallet",
    unnamedWallet: "Browser wallet",
    confirmInWallet: (amount: string) => `Confirm the refund of ${amount} in your wallet.`,
    otherAccount: (account: string) =>
      `You are sending from ${account}. This is not the wallet that received the payment.`,
    recording: "Recording the refund…",
    notRecorded: "The refund was sent, but it is not recorded yet. Do not send it again.",
    maybeSent: (amount: string, address: string) =>
      `Your wallet may have sent ${amount} to ${address}. Check its activity before you continue. Do not send it again.`,
    notSent: "It was not sent",
    notSentTitle: "Send the refund again?",
    notSentText:
      "If your wallet did send it, your customer gets the money twice. Check the wallet's activity first.",
    notSentConfirm: "It was not sent",
    payByRequest:
      "Scan the code with your wallet app, or open the app. Then enter the transaction ID.",
    amountTo: (amount: string, address: string) => `${amount} to ${address}`,
    requestQr: "QR code of the refund",
    openApp: "Open wallet app",
    walletErrors: {
      noWallet:
        "No wallet was found in this browser. Send the refund with another wallet, then record it here.",
      rejected: "You rejected the request. Nothing was sent.",
      busy: "Your wallet has another open request. Answer it first.",
      locked: "Your wallet is locked. Unlock it and try again.",
      unsupported: "Your wallet does not support this request. Nothing was sent.",
      networkMissing: "Your wallet does not have this network. Add it and try again.",
      wrongNetwork: "Your wallet is on another network. Switch it and try again.",
      lacksGas:
        "The account does not have enough of the network's coin for the fee. Nothing was sent.",
      reverted: "The transfer would fail. Check the account's balance. Nothing was sent.",
      unreachable: "Your wallet could not reach the network. Try again.",
      different: "Your wallet built another transaction than requested. Nothing was sent.",
      other: "Your wallet could not send the refund. Nothing was sent.",
    },
  },
  de: {
    title: "Zahlung erstatten",
    tokenOnNetwork: (token: string, network: string) => `${token} auf ${network}`,
    amount: "Betrag",
    address: "Adresse",
    addressHint: "Der Absender der Zahlung.",
    addressMissing:
      "Der Absender dieser Zahlung ist nicht bekannt. Fragen Sie Ihre Kundschaft nach einer Adresse.",
    confirmAddress:
      "Lassen Sie sich die Adresse bestätigen. Kam die Zahlung von einer Börse, nimmt deren Adresse Rückzahlungen vielleicht nicht an, und das Geld wäre verloren.",
    alreadyRefunded: (amount: string) =>
      `Für diese Zahlung haben Sie bereits Rückzahlungen über ${amount} erfasst.`,
    openWallet: "Wallet öffnen",
    recordManually: "Schon gesendet? Erfassen",
    recordTitle: "Rückzahlung erfassen",
    recordText:
      "Geben Sie die Transaktion einer Rückzahlung ein, die Sie mit einer anderen Wallet gesendet haben. Sie wird nicht geprüft.",
    transactionId: "Transaktions-ID",
    record: "Rückzahlung erfassen",
    back: "Zurück",
    close: "Schließen",
    chooseWallet: "Wallet auswählen",
    unnamedWallet: "Browser-Wallet",
    confirmInWallet: (amount: string) =>
      `Bestätigen Sie die Rückzahlung von ${amount} in Ihrer Wallet.`,
    otherAccount: (account: string) =>
      `Sie senden von ${account}. Das ist nicht die Wallet, die die Zahlung empfangen hat.`,
    recording: "Rückzahlung wird erfasst…",
    notRecorded:
      "Die Rückzahlung wurde gesendet, aber noch nicht erfasst. Senden Sie sie nicht noch einmal.",
    maybeSent: (amount: string, address: string) =>
      `Ihre Wallet hat vielleicht ${amount} an ${address} gesendet. Prüfen Sie zuerst die Aktivität der Wallet. Senden Sie nicht noch einmal.`,
    notSent: "Wurde nicht gesendet",
    notSentTitle: "Rückzahlung erneut senden?",
    notSentText:
      "Falls Ihre Wallet sie doch gesendet hat, wird das Geld zweimal ausgezahlt. Prüfen Sie zuerst die Aktivität der Wallet.",
    notSentConfirm: "Wurde nicht gesendet",
    payByRequest:
      "Scannen Sie den Code mit Ihrer Wallet-App oder öffnen Sie die App. Geben Sie danach die Transaktions-ID ein.",
    amountTo: (amount: string, address: string) => `${amount} an ${address}`,
    requestQr: "QR-Code der Rückzahlung",
    openApp: "Wallet-App öffnen",
    walletErrors: {
      noWallet:
        "In diesem Browser wurde keine Wallet gefunden. Senden Sie die Rückzahlung mit einer anderen Wallet und erfassen Sie sie hier.",
      rejected: "Sie haben die Anfrage abgelehnt. Es wurde nichts gesendet.",
      busy: "Ihre Wallet hat eine andere offene Anfrage. Beantworten Sie diese zuerst.",
      locked: "Ihre Wallet ist gesperrt. Entsperren Sie sie und versuchen Sie es erneut.",
      unsupported: "Ihre Wallet unterstützt diese Anfrage nicht. Es wurde nichts gesendet.",
      networkMissing:
        "Ihre Wallet kennt dieses Netzwerk nicht. Fügen Sie es hinzu und versuchen Sie es erneut.",
      wrongNetwork:
        "Ihre Wallet ist in einem anderen Netzwerk. Wechseln Sie es und versuchen Sie es erneut.",
      lacksGas:
        "Das Konto hat nicht genug von der Währung des Netzwerks für die Gebühr. Es wurde nichts gesendet.",
      reverted:
        "Die Überweisung würde scheitern. Prüfen Sie das Guthaben des Kontos. Es wurde nichts gesendet.",
      unreachable: "Ihre Wallet hat das Netzwerk nicht erreicht. Versuchen Sie es erneut.",
      different:
        "Ihre Wallet hat eine andere Transaktion erstellt als angefragt. Es wurde nichts gesendet.",
      other: "Ihre Wallet konnte die Rückzahlung nicht senden. Es wurde nichts gesendet.",
    },
  },
});
