import type { ManualPaymentTexts } from "./manual-payment-texts.ts";

/** The same texts in German. */
export const manualPaymentTextsGerman: ManualPaymentTexts = {
  payInWallet: "{amount} {symbol} in Ihrer Wallet bezahlen",
  qr: {
    alternative: "QR-Code der Zahlungsanforderung",
    caption: "Oder mit der Wallet-App auf Ihrem Handy scannen",
  },
  amount: "Genauer Betrag",
  address: "An",
  solana:
    "Wallets mit Solana Pay füllen alles aus. Eine einfache Überweisung an den Verkäufer " +
    "bezahlt diesen Link nicht.",
  solanaTransferRequest: {
    title: "Wallet öffnet sich nicht?",
    text:
      "Ihre Wallet erstellt diese Zahlung selbst, für den jetzigen Betrag. Laden Sie diese " +
      "Seite neu, bevor Sie sie später nutzen.",
    payWithRequest: "Überweisung öffnen",
    alternative: "QR-Code der Überweisungsanforderung",
  },
  exchange: {
    title: "Von Coinbase, Kraken oder einer anderen Börse zahlen",
    withdraw:
      "Zahlen Sie im Netzwerk {chain} an {address} aus, ohne Memo. Genau {amount} {symbol} müssen ankommen.",
    addressNamesLink: "Dieser Link ist bezahlt, sobald das Netzwerk die Zahlung bestätigt.",
    assignedManually:
      "Senden Sie dem Verkäufer Ihre Transaktions-ID, damit er die Zahlung zuordnen kann. " +
      "Zahlen Sie hier nicht noch einmal.",
    notTracked:
      "Eine Zahlung von einer Börse lässt sich diesem Link nicht zuordnen. Zahlen Sie zuerst an " +
      "Ihre eigene Wallet aus und zahlen Sie dann von dort.",
  },
  bitcoin:
    "Diese Adresse ist nur für diesen Link. Senden Sie genau den Betrag, einmal. Die Gebühr " +
    "Ihrer Wallet kommt dazu. Nach der Bestätigung ist der Link bezahlt.",
  tron:
    "Um manuell zu zahlen, senden Sie die beiden Transaktionen unter Details nacheinander aus " +
    "einer Tron-Wallet. Sie brauchen bis zu {energy} Energie. Ohne Energie kosten sie bis zu " +
    "{fee} TRX, meist viel weniger.",
};
