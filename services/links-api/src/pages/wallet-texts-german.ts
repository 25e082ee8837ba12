import type { WalletTexts } from "./wallet-texts.ts";

/** The same texts in German. */
export const walletTextsGerman: WalletTexts = {
  unknown: "Diesen Zahlungslink gibt es nicht. Es wurde nichts gezahlt.",
  elsewhere: "Dieser Link ist auf Solana nicht zahlbar. Es wurde nichts gezahlt.",
  completed: "Dieser Link ist bezahlt. Zahlen Sie ihn nicht noch einmal.",
  expired: "Dieser Link ist abgelaufen. Es wurde nichts gezahlt.",
  inactive: "Dieser Link wurde geschlossen. Es wurde nichts gezahlt.",
  held: "Dieser Link nimmt gerade keine Zahlungen an. Es wurde nichts gezahlt.",
  own_account: "An dieses Konto soll gezahlt werden. Zahlen Sie von einem anderen.",
  payment_seen: "Eine Zahlung wird gerade bestätigt. Zahlen Sie nicht noch einmal.",
  balance_too_low: "Zu wenig {symbol}: Es sind {amount}, und hier sind {balance}.",
  noAccount: "Ihr Wallet sagte nicht, welches Konto zahlt. Es wurde nichts gezahlt.",
  lost: "Die Adresse dieses Links ist kein Wallet. Nichts gezahlt; fragen Sie nach.",
  away: "Solana ist gerade nicht erreichbar. Nichts gezahlt; gleich noch einmal.",
  tooMany: "Zu viele Anfragen. Es wurde nichts gezahlt; gleich noch einmal.",
  failed: "Hier ging etwas schief. Es wurde nichts gezahlt; gleich noch einmal.",
};
