import type { WalletTexts } from "./wallet-texts.ts";

/** The same texts in German. */
export const walletTextsGerman: WalletTexts = {
  unknown: "Diesen Zahlungslink gibt es nicht. Es wurde nichts gezahlt.",
  elsewhere: "Dieser Link ist auf Solana nicht zahlbar. Es wurde nichts gezahlt.",
  completed: "Dieser Link ist schon bezahlt. Zahlen Sie nicht noch einmal.",
  expired: "Dieser Link ist abgelaufen. Es wurde nichts gezahlt.",
  inactive: "Der Verkäufer hat diesen Link geschlossen. Es wurde nichts gezahlt.",
  held: "Dieser Link ist ausgesetzt. Es wurde nichts gezahlt.",
  own_account: "Dieses Konto empfängt die Zahlung. Zahlen Sie von einem anderen.",
  payment_seen: "Eine Zahlung wird gerade bestätigt. Zahlen Sie nicht noch einmal.",
  balance_too_low: "Nicht genug {symbol}: Sie brauchen {amount}, haben aber {balance}.",
  noAccount: "Ihre Wallet hat kein gültiges Konto gesendet. Es wurde nichts gezahlt.",
  lost: "Die Adresse ist keine Wallet. Nichts gezahlt. Fragen Sie den Verkäufer.",
  away: "Solana ist nicht erreichbar. Nichts gezahlt. Versuchen Sie es gleich erneut.",
  tooMany: "Zu viele Anfragen. Nichts gezahlt. Versuchen Sie es gleich erneut.",
  failed: "Etwas ist schiefgelaufen. Nichts gezahlt. Versuchen Sie es gleich erneut.",
};
