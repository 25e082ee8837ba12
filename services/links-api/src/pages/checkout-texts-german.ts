import type { CheckoutTexts } from "./checkout-texts.ts";

/** Every German text of the checkout. */
export const checkoutTextsGerman: CheckoutTexts = {
  badges: {
    active: "Offen",
    completed: "Abgeschlossen",
    expired: "Abgelaufen",
    inactive: "Geschlossen",
    suspended: "Ausgesetzt",
  },
  states: {
    active: "Dieser Zahlungslink ist offen.",
    partial: "{received} von {asked} {symbol} eingegangen, {remaining} fehlen noch.",
    remainderTooSmall:
      "{received} von {asked} {symbol} sind eingegangen. Die fehlenden {remaining} {symbol} sind zu " +
      "wenig, um sie auf {chain} zu senden. Senden Sie nichts mehr und bitten Sie den Empfänger, " +
      "diesen Zahlungslink zu schließen.",
    completed: "Dieser Zahlungslink ist bezahlt. Zahlen Sie ihn nicht noch einmal.",
    paymentLimitReached:
      "Dieser Zahlungslink hat alle Zahlungen erhalten, die er annimmt: {received} von {asked} " +
      "{symbol} sind eingegangen. Zahlen Sie ihn nicht noch einmal.",
    expired: "Dieser Zahlungslink ist abgelaufen. Senden Sie nichts mehr dorthin.",
    inactive: "Der Empfänger hat diesen Zahlungslink geschlossen. Senden Sie nichts mehr dorthin.",
    suspended: "Dieser Zahlungslink nimmt zurzeit keine Zahlungen an. Senden Sie nichts dorthin.",
  },
  unpayable: {
    chain_not_watched:
      "Er kann auf dieser Seite nicht bezahlt werden, weil Zahlungen auf {chain} hier nicht " +
      "verfolgt werden. Fragen Sie den Empfänger, wie Sie zahlen können, und senden Sie von sich " +
      "aus nichts an eine Adresse.",
    no_fee_proxy:
      "Er kann auf dieser Seite nicht bezahlt werden, weil es für seinen Token auf {chain} keinen " +
      "Zahlungs-Contract gibt. Fragen Sie den Empfänger, wie Sie zahlen können, und senden Sie von " +
      "sich aus nichts an eine Adresse.",
    amount_not_payable:
      "Er kann nicht bezahlt werden, weil keine Zahlung auf {chain} seinen Betrag haben kann. " +
      "Bitten Sie den Empfänger um einen anderen.",
    destination_not_payable:
      "Er kann nicht bezahlt werden, weil der Empfänger Geld an seiner Adresse auf {chain} nicht " +
      "ausgeben könnte. Bitten Sie ihn um einen Link mit einer anderen Adresse, und senden Sie " +
      "nichts an diese.",
  },
  testNetwork: "TEST: {chain} ist ein Testnetz. Nichts hier hat einen Wert.",
  unverified:
    "Der Betreiber dieser Website hat diesen Verkäufer nicht geprüft. Zahlen Sie nur, wenn Sie ihn " +
    "kennen und ihm vertrauen.",
  seen:
    "Eine Zahlung von {amount} {symbol} wurde gesehen und wird bestätigt. Zahlen Sie nicht noch " +
    "einmal.",
  wrongToken:
    "{amount} {wrong} sind eingegangen, aber {wrong} ist nicht {symbol} und bezahlt diesen Link nicht. " +
    "Senden Sie das nicht noch einmal; fragen Sie den Empfänger. Transaktion {hash}",
  pay: "{amount} {symbol} zahlen",
  title: "{amount} {symbol} an {owner}",
  labels: {
    token: "Token",
    network: "Netzwerk",
    tokenContract: "Token-Contract",
    received: "Eingegangen",
    usage: ", mit {count} von höchstens {most} Zahlungen",
    expires: "Läuft ab",
    details: "Einzelheiten",
    settlesTo: "Geht an",
    paymentContract: "Zahlungs-Contract",
    paymentReference: "Zahlungsreferenz",
    on: "Auf",
    chain: "{name} (Chain {id})",
    to: "An",
    value: "Wert, in kleinsten Einheiten",
    data: "Daten",
  },
  copy: {
    copy: "Kopieren",
    paymentContract: "Den Zahlungs-Contract kopieren",
    paymentReference: "Die Zahlungsreferenz kopieren",
    to: "Die Adresse kopieren",
    value: "Den Wert kopieren",
    data: "Die Daten kopieren",
  },
  stepsTitle: "Transaktionen, die Ihre Wallet in dieser Reihenfolge senden muss",
  steps: {
    reset_allowance: "Eine frühere Freigabe zurücknehmen; nicht nötig, wo es keine gibt.",
    approve: "Dem Zahlungs-Contract erlauben, genau diesen Betrag zu bewegen.",
    pay: "Zahlen: Der Contract sendet den Betrag unter der Referenz dieses Links direkt an den Empfänger.",
  },
  explorer: "Die Transaktion auf {host} ansehen",
  expiresIn: "Läuft ab in {left}",
  lastReceipt: "Beleg der letzten Zahlung",
  receipt: {
    title: "Beleg: {amount} {symbol} an {owner}",
    badge: "Abgewickelt",
    state: "Diese Zahlung ist endgültig.",
    amount: "Diese Zahlung",
    asked: "Verlangt",
    received: "Bisher eingegangen",
    paidTo: "Gezahlt an",
    sourceTransaction: "Transaktion des Zahlers",
    paid: "Gezahlt am",
    id: "Vorgang",
    link: "Der Zahlungslink",
    print: "Diesen Beleg drucken",
  },
  noScript:
    "Um von Hand zu zahlen, senden Sie die Transaktionen unter Einzelheiten mit Ihrer Wallet.",
  qr: {
    alternative: "QR-Code der Adresse dieser Seite",
    caption: "Um mit dem Telefon zu zahlen, lesen Sie diesen Code mit seiner Kamera.",
  },
  apps: {
    title: "Öffnen Sie diese Seite in einer Wallet, die Sie auf diesem Gerät haben:",
    open: "In {name} öffnen",
  },
  plainTransfer:
    "Eine einfache Überweisung an die Adresse des Empfängers lässt sich nicht zuordnen und erfüllt " +
    "diesen Link nicht: Zahlen Sie über den Contract unten.",
  script: {
    noWallet:
      "In diesem Browser ist keine Wallet. Öffnen Sie diese Seite im Browser Ihrer Wallet, oder " +
      "zahlen Sie von Hand mit dem, was unter Einzelheiten steht.",
    choose: "Wählen Sie eine Wallet",
    browserWallet: "Die Wallet dieses Browsers",
    connecting: "Ihre Wallet fragt, ob diese Seite Ihr Konto sehen darf.",
    account: "{account} hat {balance} {symbol}",
    checking: "Ihr Guthaben wird gelesen.",
    allow:
      "Schritt {step} von {steps}: Erlauben Sie dem Zahlungs-Contract, genau diesen Betrag zu nehmen.",
    allowing: "Die Freigabe ist gesendet, noch keine Zahlung. Es wird auf das Netzwerk gewartet.",
    payStep: "Schritt {step} von {steps}: Bestätigen Sie die Zahlung in Ihrer Wallet.",
    confirm: "Bestätigen Sie die Zahlung in Ihrer Wallet.",
    asked:
      "Ihre Wallet wurde um diese Zahlung gebeten und hat dieser Seite nicht geantwortet. Sehen Sie " +
      "dort nach: Wenn Sie bestätigt haben, warten Sie hier und zahlen Sie nicht noch einmal.",
    confirmBoth:
      "Bestätigen Sie in Ihrer Wallet: Sie erlaubt dem Zahlungs-Contract, genau diesen Betrag zu " +
      "nehmen, und zahlt ihn, in einem.",
    taken:
      "Ihre Wallet hat die Zahlung angenommen. Es wird auf das Netzwerk gewartet. Zahlen Sie nicht " +
      "noch einmal.",
    sent: "Gesendet. Es wird auf das Netzwerk gewartet. Zahlen Sie nicht noch einmal. Transaktion {hash}",
    mined:
      "In einem Block. Es wird gewartet, bis sie hier gesehen wird. Zahlen Sie nicht noch einmal. " +
      "Transaktion {hash}",
    seen:
      "Eine Zahlung von {amount} {symbol} wurde gesehen und wird bestätigt. Zahlen Sie nicht noch " +
      "einmal.",
    confirming: "Wird bestätigt ({seen} von {needed})",
    changedByWallet:
      "Ihre Wallet hat die Zahlung verändert: Das Geld ist angekommen, nennt aber diesen Link nicht mehr. " +
      "Zahlen Sie nicht noch einmal; bitten Sie den Empfänger, sie zuzuordnen. Transaktion {hash}",
    uncounted:
      "Ihre Zahlung ist angekommen, zählt aber nicht für diesen Link. Zahlen Sie nicht noch einmal, " +
      "fragen Sie den Empfänger. Transaktion {hash}",
    failed:
      "Ihre Zahlung ist fehlgeschlagen: Sie steht nicht auf der Chain. Sie können erneut zahlen.",
    refused:
      "Das Netzwerk hat Ihre Transaktion abgelehnt; mit ihr wurde nichts gezahlt. Sie können erneut " +
      "zahlen.",
    replaced:
      "Eine andere Transaktion Ihrer Wallet ist an die Stelle der Zahlung getreten, es wurde also " +
      "nichts gezahlt. Sie können erneut zahlen.",
    rejected:
      "Sie haben in Ihrer Wallet abgelehnt. Es wurde nichts gezahlt; Sie können es erneut versuchen.",
    busyWallet:
      "In Ihrer Wallet ist eine Frage offen. Beantworten Sie sie dort und versuchen Sie es dann erneut.",
    wrongNetwork:
      "Ihre Wallet ist auf einem anderen Netzwerk. Wechseln Sie zu {chain} und versuchen Sie es dann " +
      "erneut.",
    unknownNetwork:
      "Ihre Wallet kennt {chain} nicht. Fügen Sie dieses Netzwerk in Ihrer Wallet hinzu und versuchen " +
      "Sie es dann erneut.",
    notAllowed:
      "Ihre Wallet lässt diese Seite Ihr Konto nicht benutzen. Entsperren Sie sie, erlauben Sie es und " +
      "versuchen Sie es dann erneut. Es wurde nichts gezahlt.",
    cannotPay:
      "Diese Wallet kann hier nicht zahlen. Es wurde nichts gezahlt; nehmen Sie eine andere Wallet, oder " +
      "zahlen Sie von Hand mit dem, was unter Einzelheiten steht.",
    lacksToken:
      "{account} hat {balance} {symbol}, weniger als {amount}. Es wurde nichts gesendet; laden Sie etwas " +
      "auf, oder nehmen Sie ein anderes Konto Ihrer Wallet, und versuchen Sie es dann erneut.",
    lacksGas:
      "{account} hat zu wenig {coin} für die Gebühr des Netzwerks. Laden Sie etwas auf und versuchen " +
      "Sie es dann erneut. Es wurde nichts gesendet.",
    blocked:
      "Der Token-Contract würde diese Zahlung ablehnen: Vielleicht sperrt er Ihre Adresse oder " +
      "die des Empfängers. Es wurde nichts gezahlt; nehmen Sie ein anderes Konto, oder fragen Sie den " +
      "Empfänger, wie Sie zahlen können.",
    chainDown:
      "Ihre Wallet erreicht {chain} gerade nicht. Es wurde nichts gezahlt; versuchen Sie es gleich " +
      "noch einmal.",
    stopped:
      "Ihre Wallet liest {chain} bei einem Knoten, den diese Seite nicht zulässt. Es wurde nichts gezahlt; " +
      "öffnen Sie diese Seite in einer anderen Wallet, oder zahlen Sie von Hand mit dem, was unter " +
      "Einzelheiten steht.",
    walletFailed:
      "Ihre Wallet hat einen Fehler gemeldet. Es wurde nichts gezahlt; versuchen Sie es erneut, oder " +
      "nehmen Sie eine andere Wallet.",
    allowanceRefused:
      "Das Netzwerk hat die Freigabe abgelehnt. Es wurde nichts gezahlt; Sie können es erneut versuchen.",
    allowanceWaits:
      "Die Freigabe ist noch in keinem Block. Es wurde nichts gezahlt; Sie können es erneut versuchen.",
    changed: "Dieser Link hat sich geändert. Sehen Sie ihn noch einmal an, bevor Sie zahlen.",
    otherTab: "Dieser Link wird in einem anderen Tab bezahlt. Machen Sie dort weiter.",
    offline: "Der Stand dieses Links lässt sich gerade nicht lesen. Es wird erneut versucht.",
    gone: "Sie kam nie an oder wurde abgebrochen",
    copied: "Kopiert",
  },
  confirmGone: {
    title: "Ist die erste Zahlung wirklich weg?",
    text:
      "Machen Sie nur weiter, wenn Ihre Wallet zeigt, dass sie abgebrochen wurde, fehlgeschlagen ist " +
      "oder nie gesendet wurde. Kommt sie später doch an, haben Sie zweimal gezahlt, und diese Seite " +
      "kann nichts zurückholen.",
    wait: "Weiter warten",
    gone: "Sie ist weg, lassen Sie mich erneut zahlen",
  },
};
