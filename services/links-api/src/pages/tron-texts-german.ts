import type { TronTexts } from "./tron-texts.ts";

/** The same texts in German. */
export const tronTextsGerman: TronTexts = {
  noWallet:
    "In diesem Browser ist keine Tron-Wallet. Öffnen Sie diese Seite im Browser von TronLink, oder zahlen Sie " +
    "von Hand mit dem, was unter Einzelheiten steht.",
  account: "{account} hat {balance} {symbol}, {coins} {coin} und {energy} Energie",
  fee: "Das braucht {needed} Energie; für das, was Ihrem Konto fehlt, werden etwa {cost} {coin} verbrannt, und nie mehr als {limit}.",
  asked:
    "Ihre Wallet wurde um diese Zahlung gebeten und hat dieser Seite nicht geantwortet. Sehen Sie dort nach: " +
    "Wenn Sie bestätigt haben, warten Sie hier und zahlen Sie nicht noch einmal. Bestätigt niemand, läuft sie in " +
    "etwa zwei Minuten ab, und Sie können erneut zahlen.",
  wrongNetwork:
    "Ihre Wallet ist in einem anderen Netzwerk. Wählen Sie dort {chain} aus der Liste der Netzwerke, und versuchen " +
    "Sie es erneut. Es wurde nichts gezahlt.",
  notAllowed:
    "Ihre Wallet ist gesperrt oder hat kein Konto. Entsperren Sie sie, und versuchen Sie es erneut. Es wurde " +
    "nichts gezahlt.",
  lacksGas:
    "{account} hat {coins} {coin}, und dieser Schritt würde für die fehlende Energie etwa {cost} verbrennen. Laden " +
    "Sie {coin} auf, und versuchen Sie es erneut. Es wurde nichts gezahlt.",
  lacksBandwidth:
    "Ihr Konto hat zu wenig {coin} für die Größe der Transaktion. Laden Sie es auf, und versuchen Sie es erneut. " +
    "Es wurde nichts gezahlt.",
  tooDear:
    "Dieser Schritt braucht zurzeit {needed} Energie, mehr als {limit} {coin} bezahlen; er würde also scheitern. " +
    "Es wurde nichts gezahlt; fragen Sie den Empfänger, wie Sie zahlen können.",
  different:
    "Ihre Wallet hat eine andere Transaktion gemacht, als diese Seite wollte. Es wurde nichts gezahlt; nehmen Sie " +
    "eine andere Wallet, oder zahlen Sie von Hand mit dem, was unter Einzelheiten steht.",
  nodeRefused:
    "Der Knoten Ihrer Wallet hat nicht angenommen, was Sie signiert haben. Es wurde nichts gezahlt; versuchen Sie " +
    "es erneut, oder wählen Sie in Ihrer Wallet einen anderen Knoten.",
  late: "Was Sie signiert haben, kam zu spät für das Netzwerk. Es wurde nichts gezahlt; versuchen Sie es erneut, und bestätigen Sie binnen einer Minute.",
  unanswered:
    "Niemand hat es in Ihrer Wallet rechtzeitig bestätigt. Es wurde nichts gezahlt; Sie können es erneut versuchen.",
  expired:
    "Kein Block hat Ihre Zahlung in ihrer Zeit aufgenommen, und keiner kann es mehr. Mit ihr wurde nichts gezahlt. " +
    "Sie können erneut zahlen.",
  outOfEnergy:
    "Ihrer Transaktion ging die Energie aus: Die Gebühr ist weg, und mit ihr wurde nichts gezahlt. Sie können " +
    "erneut zahlen.",
  stopped:
    "Ihre Wallet fragt einen anderen Knoten als den üblichen des Netzes, was diese Seite nicht zulässt. Es wurde " +
    "nichts gezahlt; wählen Sie in Ihrer Wallet den üblichen Knoten, nehmen Sie eine andere Wallet, oder zahlen " +
    "Sie von Hand mit dem, was unter Einzelheiten steht.",
};
