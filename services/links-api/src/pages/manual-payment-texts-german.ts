import type { ManualPaymentTexts } from "./manual-payment-texts.ts";

/** The same texts in German. */
export const manualPaymentTextsGerman: ManualPaymentTexts = {
  payInWallet: "{amount} {symbol} in Ihrer Wallet bezahlen",
  qr: {
    alternative: "QR-Code der Zahlungsanforderung",
    caption: "Oder scannen Sie diesen Code mit der Wallet auf Ihrem Telefon.",
  },
  amount: "Genauer Betrag",
  address: "An",
  copyAmount: "Den Betrag kopieren",
  solana:
    "Jede Wallet, die Solana Pay kennt, füllt alles aus. Einer einfachen Überweisung an den Empfänger " +
    "fehlt die Referenz dieses Links, und sie schließt ihn nicht ab.",
  solanaTransferRequest: {
    title: "Öffnet Ihre Wallet das nicht?",
    text:
      "Mit dieser Anforderung macht Ihre Wallet die Zahlung selbst. Sie gilt für den jetzigen Betrag: Laden " +
      "Sie diese Seite neu, bevor Sie sie später benutzen.",
    payWithRequest: "Mit dieser Anforderung zahlen",
    alternative: "QR-Code der Anforderung, mit der eine Wallet die Zahlung selbst macht",
  },
  exchange: {
    title: "Liegt Ihr Geld bei einer Börse?",
    withdraw:
      "Zahlen Sie es so aus, dass genau {amount} {symbol} im Netz {chain} ankommen, ohne Memo, bei " +
      "{address}.",
    addressNamesLink:
      "Die Adresse ist nur für diesen Link: Er ist bezahlt, sobald das Netz es bestätigt hat.",
    assignedManually:
      "Darin steht nicht, wofür es ist, also bleibt dieser Link offen: Nennen Sie dem Empfänger die " +
      "Transaktion, der sie ihm von Hand zuordnet. Zahlen Sie hier nicht noch einmal.",
    notTracked:
      "Eine Börse kann nicht sagen, wofür es ist, und der Empfänger erführe nicht, dass es ankam. Zahlen Sie " +
      "es zuerst an eine eigene Wallet aus, und zahlen Sie von dort.",
  },
  bitcoin:
    "Diese Adresse ist nur für diesen Link. Senden Sie genau den Betrag, einmal; die Gebühr Ihrer Wallet " +
    "kommt dazu. Er zählt, sobald das Netz ihn bestätigt hat.",
  tron:
    "Um von Hand zu zahlen, senden Sie die beiden Aufrufe unter Einzelheiten nacheinander aus einer " +
    "Tron-Wallet. Sie brauchen bis zu {energy} Energie; ohne Energie werden bis zu {fee} TRX verbrannt, meist " +
    "viel weniger.",
};
