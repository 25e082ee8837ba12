import type { CheckoutTexts } from "./checkout-texts.ts";

/** All German texts of the checkout. */
export const checkoutTextsGerman: CheckoutTexts = {
  badges: {
    active: "Aktiv",
    completed: "Abgeschlossen",
    expired: "Abgelaufen",
    inactive: "Geschlossen",
    suspended: "Ausgesetzt",
  },
  states: {
    partial: "{received} von {asked} {symbol} eingegangen, {remaining} fehlen noch.",
    remainderTooSmall:
      "{received} von {asked} {symbol} eingegangen. Die fehlenden {remaining} {symbol} sind zu " +
      "wenig, um sie auf {chain} zu senden. Senden Sie nichts mehr. Bitten Sie den Verkäufer, " +
      "diesen Link zu schließen.",
    completed: "Zahlung abgeschlossen",
    paymentLimitReached:
      "Zahlungslimit erreicht: {received} von {asked} {symbol} eingegangen. Zahlen Sie nicht noch einmal.",
    expired: "Dieser Zahlungslink ist abgelaufen. Senden Sie nichts mehr dorthin.",
    inactive: "Der Verkäufer hat diesen Zahlungslink geschlossen. Senden Sie nichts mehr dorthin.",
    suspended: "Dieser Zahlungslink ist ausgesetzt. Senden Sie nichts dorthin.",
  },
  unpayable: {
    chain_not_watched:
      "Sie können hier nicht zahlen: Diese Seite verfolgt keine Zahlungen auf {chain}. Fragen " +
      "Sie den Verkäufer, wie Sie zahlen können. Senden Sie von sich aus nichts an eine Adresse.",
    no_fee_proxy:
      "Sie können hier nicht zahlen: Dieser Token hat auf {chain} keinen Zahlungs-Contract. " +
      "Fragen Sie den Verkäufer, wie Sie zahlen können. Senden Sie von sich aus nichts an eine " +
      "Adresse.",
    amount_not_payable:
      "Diesen Betrag können Sie auf {chain} nicht zahlen. Bitten Sie den Verkäufer um einen Link mit anderem Betrag.",
    destination_not_payable:
      "Sie können hier nicht zahlen: Der Verkäufer könnte Geld an dieser Adresse auf {chain} " +
      "nicht ausgeben. Bitten Sie ihn um einen Link mit einer anderen Adresse. Senden Sie " +
      "nichts an diese.",
  },
  testNetwork: "TEST: {chain} ist ein Testnetz. Zahlungen hier sind wertlos.",
  unverified:
    "Der Betreiber dieser Website hat diesen Verkäufer nicht geprüft. Zahlen Sie nur, wenn Sie ihn " +
    "kennen und ihm vertrauen.",
  seen: "Zahlung von {amount} {symbol} erkannt. Zahlen Sie nicht noch einmal.",
  wrongToken:
    "{amount} {wrong} eingegangen, aber dieser Link nimmt nur {symbol} an. Senden Sie das nicht " +
    "noch einmal. Wenden Sie sich an den Verkäufer. Transaktion {hash}",
  pay: "{amount} {symbol} zahlen",
  title: "{amount} {symbol} an {owner}",
  labels: {
    token: "Token",
    network: "Netzwerk",
    tokenContract: "Token-Contract",
    received: "Eingegangen",
    usage: " ({count} von {most} Zahlungen)",
    expires: "Läuft ab",
    details: "Details",
    settlesTo: "Bezahlt an",
    paymentContract: "Zahlungs-Contract",
    paymentReference: "Zahlungsreferenz",
    on: "Netzwerk",
    chain: "{name} (Chain-ID {id})",
    to: "An",
    value: "Wert (kleinste Einheiten)",
    data: "Daten",
  },
  copy: {
    copy: "Kopieren",
    copied: "Kopiert",
    amount: "Betrag kopieren",
    paymentContract: "Zahlungs-Contract kopieren",
    paymentReference: "Zahlungsreferenz kopieren",
    to: "Adresse kopieren",
    value: "Wert kopieren",
    data: "Daten kopieren",
  },
  stepsTitle: "Senden Sie diese Transaktionen der Reihe nach",
  steps: {
    reset_allowance: "Frühere Freigabe zurücksetzen. Entfällt, wenn es keine gibt.",
    approve: "Geben Sie genau diesen Betrag für den Zahlungs-Contract frei.",
    pay: "Zahlen Sie. Der Contract sendet den Betrag direkt an den Verkäufer.",
  },
  explorer: "Transaktion auf {host} ansehen",
  expiresIn: "Läuft ab in {left}",
  lastReceipt: "Beleg ansehen",
  receipt: {
    title: "Beleg: {amount} {symbol} an {owner}",
    badge: "Bezahlt",
    state: "Zahlung eingegangen",
    amount: "Diese Zahlung",
    asked: "Gefordert",
    received: "Bisher eingegangen",
    paidTo: "Bezahlt an",
    sourceTransaction: "Transaktions-ID",
    paid: "Gezahlt am",
    id: "Zahlungs-ID",
    link: "Zahlungslink ansehen",
    print: "Beleg drucken",
  },
  noScript: "Um manuell zu zahlen, senden Sie die Transaktionen unter Details.",
  qr: {
    alternative: "QR-Code für diese Seite",
    caption: "Scannen, um mit dem Handy zu zahlen",
  },
  apps: {
    title: "Diese Seite in Ihrer Wallet-App öffnen",
    open: "In {name} öffnen",
  },
  plainTransfer:
    "Eine einfache Überweisung an die Adresse des Verkäufers bezahlt diesen Link nicht. Zahlen " +
    "Sie über den Contract unten.",
  script: {
    noWallet: "Zahlungsart wählen",
    choose: "Wallet wählen",
    browserWallet: "Browser-Wallet",
    connecting: "Bestätigen Sie die Verbindung in Ihrer Wallet.",
    account: "{account} hat {balance} {symbol}",
    checking: "Ihr Guthaben wird geprüft…",
    allow:
      "Schritt {step} von {steps}: Geben Sie genau diesen Betrag für den Zahlungs-Contract frei.",
    allowing: "Freigabe gesendet. Sie haben noch nicht gezahlt. Warten auf das Netzwerk…",
    payStep: "Schritt {step} von {steps}: Bestätigen Sie die Zahlung in Ihrer Wallet.",
    confirm: "Bestätigen Sie die Zahlung in Ihrer Wallet.",
    asked:
      "Ihre Wallet hat kein Ergebnis gemeldet. Wenn Sie die Zahlung dort bestätigt haben, warten Sie " +
      "hier und zahlen Sie nicht noch einmal.",
    confirmBoth:
      "Bestätigen Sie in Ihrer Wallet: genau diesen Betrag für den Zahlungs-Contract freigeben " +
      "und in einem Schritt zahlen.",
    taken:
      "Ihre Wallet hat die Zahlung angenommen. Warten auf das Netzwerk. Zahlen Sie nicht noch einmal.",
    sent: "Gesendet. Warten auf das Netzwerk. Zahlen Sie nicht noch einmal. Transaktion {hash}",
    mined:
      "In einem Block. Warten auf Bestätigung. Zahlen Sie nicht noch einmal. Transaktion {hash}",
    seen: "Zahlung von {amount} {symbol} erkannt. Zahlen Sie nicht noch einmal.",
    confirming: "Wird bestätigt ({seen} von {needed})",
    changedByWallet:
      "Ihre Wallet hat die Zahlung verändert. Sie ist ohne die Referenz dieses Links " +
      "angekommen. Zahlen Sie nicht noch einmal. Bitten Sie den Verkäufer, sie zuzuordnen. " +
      "Transaktion {hash}",
    uncounted:
      "Zahlung eingegangen, aber diesem Link nicht gutgeschrieben. Zahlen Sie nicht noch " +
      "einmal. Fragen Sie den Verkäufer. Transaktion {hash}",
    failed: "Ihre Zahlung ist fehlgeschlagen. Es wurde nichts gezahlt. Sie können erneut zahlen.",
    refused:
      "Das Netzwerk hat Ihre Transaktion abgelehnt. Es wurde nichts gezahlt. Sie können erneut zahlen.",
    replaced:
      "Eine andere Transaktion Ihrer Wallet hat die Zahlung ersetzt. Diese Zahlung wurde nicht " +
      "ausgeführt. Sie können erneut zahlen.",
    rejected:
      "Sie haben die Anfrage abgelehnt. Es wurde nichts gezahlt. Sie können es erneut versuchen.",
    busyWallet:
      "Ihre Wallet hat eine offene Anfrage. Schließen Sie sie dort ab und versuchen Sie es erneut.",
    wrongNetwork:
      "Ihre Wallet nutzt ein anderes Netzwerk. Wechseln Sie zu {chain} und versuchen Sie es erneut.",
    unknownNetwork:
      "Ihrer Wallet fehlt das Netzwerk {chain}. Fügen Sie es hinzu und versuchen Sie es erneut.",
    notAllowed:
      "Ihre Wallet ist nicht mit dieser Seite verbunden. Entsperren Sie sie, erlauben Sie die " +
      "Verbindung und versuchen Sie es erneut. Es wurde nichts gezahlt.",
    cannotPay:
      "Diese Wallet kann hier nicht zahlen. Es wurde nichts gezahlt. Nutzen Sie eine andere " +
      "Wallet oder zahlen Sie manuell unter Details.",
    lacksToken:
      "{account} hat {balance} {symbol}, braucht aber {amount}. Es wurde nichts gesendet. Laden " +
      "Sie auf oder wechseln Sie das Konto und versuchen Sie es erneut.",
    lacksGas:
      "{account} braucht mehr {coin} für die Netzwerkgebühr. Laden Sie auf und versuchen Sie es " +
      "erneut. Es wurde nichts gesendet.",
    blocked:
      "Der Token-Contract würde diese Zahlung ablehnen. Vielleicht sperrt er Ihre Adresse oder " +
      "die des Verkäufers. Es wurde nichts gezahlt. Wechseln Sie das Konto oder fragen Sie den " +
      "Verkäufer, wie Sie zahlen können.",
    chainDown:
      "Ihre Wallet erreicht {chain} nicht. Es wurde nichts gezahlt. Versuchen Sie es gleich noch einmal.",
    stopped:
      "Ihre Wallet erreicht {chain} über einen Server, den diese Seite nicht zulässt. Es wurde " +
      "nichts gezahlt. Nutzen Sie eine andere Wallet oder zahlen Sie manuell unter Details.",
    walletFailed:
      "Ihre Wallet hat einen Fehler gemeldet. Es wurde nichts gezahlt. Versuchen Sie es erneut " +
      "oder nutzen Sie eine andere Wallet.",
    allowanceRefused:
      "Das Netzwerk hat die Freigabe abgelehnt. Es wurde nichts gezahlt. Sie können es erneut versuchen.",
    allowanceWaits:
      "Die Freigabe steht noch aus. Es wurde nichts gezahlt. Sie können es erneut versuchen.",
    changed: "Dieser Link hat sich geändert. Prüfen Sie ihn, bevor Sie zahlen.",
    otherTab: "Dieser Link wird in einem anderen Tab bezahlt. Machen Sie dort weiter.",
    offline: "Keine Aktualisierung möglich. Verbindung wird hergestellt…",
    gone: "Meine Zahlung kam nicht an",
  },
  confirmGone: {
    title: "Zahlung wirklich fehlgeschlagen?",
    text:
      "Fahren Sie nur fort, wenn Ihre Wallet zeigt, dass die Zahlung abgebrochen wurde, " +
      "fehlgeschlagen ist oder nie gesendet wurde. Kommt sie doch noch an, haben Sie zweimal " +
      "gezahlt, und diese Seite kann das nicht ändern.",
    wait: "Weiter warten",
    gone: "Neue Zahlung erlauben",
  },
};
