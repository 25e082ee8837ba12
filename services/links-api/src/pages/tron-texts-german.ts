import type { TronTexts } from "./tron-texts.ts";

/** The same texts in German. */
export const tronTextsGerman: TronTexts = {
  noWallet: "Keine Tron-Wallet gefunden. Wählen Sie eine Zahlungsart.",
  account: "{account} hat {balance} {symbol}, {coins} {coin} und {energy} Energie",
  fee:
    "Das braucht {needed} Energie. Fehlende Energie kostet etwa {cost} {coin}, höchstens " +
    "{limit}.",
  asked:
    "Ihre Wallet hat kein Ergebnis gemeldet. Wenn Sie die Zahlung dort bestätigt haben, warten Sie " +
    "hier und zahlen Sie nicht noch einmal. Bestätigt sie niemand, läuft sie in etwa 2 Minuten " +
    "ab, und Sie können erneut zahlen.",
  wrongNetwork:
    "Ihre Wallet nutzt ein anderes Netzwerk. Wählen Sie dort {chain} und versuchen Sie es " +
    "erneut. Es wurde nichts gezahlt.",
  notAllowed:
    "Ihre Wallet ist gesperrt oder hat kein Konto. Entsperren Sie sie und versuchen Sie es " +
    "erneut. Es wurde nichts gezahlt.",
  lacksGas:
    "{account} hat {coins} {coin}, aber dieser Schritt kostet wegen fehlender Energie etwa " +
    "{cost}. Laden Sie {coin} auf und versuchen Sie es erneut. Es wurde nichts gezahlt.",
  lacksBandwidth:
    "Ihr Konto braucht mehr {coin} für die Bandbreitengebühr. Laden Sie auf und versuchen Sie " +
    "es erneut. Es wurde nichts gezahlt.",
  tooDear:
    "Dieser Schritt braucht {needed} Energie, mehr als das Gebührenlimit von {limit} {coin} " +
    "abdeckt. Es wurde nichts gezahlt. Fragen Sie den Verkäufer, wie Sie zahlen können.",
  different:
    "Ihre Wallet hat eine andere Transaktion erstellt als angefordert. Es wurde nichts gezahlt. " +
    "Nutzen Sie eine andere Wallet oder zahlen Sie manuell unter Details.",
  nodeRefused:
    "Der Knoten Ihrer Wallet hat die Transaktion abgelehnt. Es wurde nichts gezahlt. Versuchen " +
    "Sie es erneut oder wählen Sie in Ihrer Wallet einen anderen Knoten.",
  late:
    "Ihre Bestätigung kam zu spät. Es wurde nichts gezahlt. Versuchen Sie es erneut und " +
    "bestätigen Sie binnen einer Minute.",
  unanswered:
    "Die Anfrage in Ihrer Wallet ist abgelaufen. Es wurde nichts gezahlt. Sie können es erneut versuchen.",
  expired:
    "Ihre Zahlung ist abgelaufen, bevor ein Block sie aufnahm. Es wurde nichts gezahlt. Sie " +
    "können erneut zahlen.",
  outOfEnergy:
    "Ihrer Transaktion ging die Energie aus. Die Gebühr ist weg, aber es wurde nichts gezahlt. " +
    "Sie können erneut zahlen.",
  stopped:
    "Ihre Wallet nutzt einen Knoten, den diese Seite nicht zulässt. Es wurde nichts gezahlt. " +
    "Wählen Sie den Standardknoten Ihrer Wallet, nutzen Sie eine andere Wallet oder zahlen Sie " +
    "manuell unter Details.",
};
