import type { Texts } from "./en.ts";

/** All German texts. */
export const german: Texts = {
  checkout: {
    states: {
      partial: "{received} von {asked} {symbol} eingegangen, {remaining} fehlen noch.",
      remainderTooSmall:
        "{received} von {asked} {symbol} eingegangen. Die fehlenden {remaining} {symbol} sind zu wenig, um sie auf {chain} zu senden. Senden Sie nichts mehr. Bitten Sie den Verkäufer, diesen Link zu schließen.",
      completed: "Zahlung abgeschlossen",
      paymentLimitReached:
        "Zahlungslimit erreicht: {received} von {asked} {symbol} eingegangen. Zahlen Sie nicht noch einmal.",
    },
    ended: {
      expired: {
        title: "Dieser Zahlungslink ist abgelaufen.",
        text: "Senden Sie nichts mehr dorthin. Bitten Sie den Verkäufer um einen neuen Link.",
      },
      inactive: {
        title: "Der Verkäufer hat diesen Zahlungslink geschlossen.",
        text: "Senden Sie nichts mehr dorthin. Wenn Sie noch zahlen möchten, bitten Sie den Verkäufer um einen neuen Link.",
      },
      suspended: {
        title: "Dieser Zahlungslink ist ausgesetzt.",
        text: "Der Betreiber dieser Website hat das Konto des Verkäufers gesperrt. Senden Sie nichts an diesen Link. Wenden Sie sich an den Verkäufer.",
      },
    },
    cannotPay: "Sie können hier nicht zahlen",
    unpayable: {
      chain_not_watched:
        "Diese Seite verfolgt keine Zahlungen auf {chain}. Fragen Sie den Verkäufer, wie Sie zahlen können. Senden Sie von sich aus nichts an eine Adresse.",
      no_fee_proxy:
        "Dieser Token hat auf {chain} keinen Zahlungs-Contract. Fragen Sie den Verkäufer, wie Sie zahlen können. Senden Sie von sich aus nichts an eine Adresse.",
      amount_not_payable:
        "Dieser Betrag lässt sich auf {chain} nicht senden. Bitten Sie den Verkäufer um einen Link mit anderem Betrag.",
      destination_not_payable:
        "Der Verkäufer könnte Geld an dieser Adresse auf {chain} nicht ausgeben. Bitten Sie ihn um einen Link mit einer anderen Adresse. Senden Sie nichts an diese.",
    },
    testMode: "Testmodus. Kein echtes Geld.",
    testNetwork: "{chain} ist ein Testnetz ohne echtes Geld.",
    unverified:
      "Der Betreiber dieser Website hat diesen Verkäufer nicht geprüft. Zahlen Sie nur, wenn Sie ihn kennen und ihm vertrauen.",
    seen: "Zahlung von {amount} {symbol} erkannt. Zahlen Sie nicht noch einmal.",
    wrongToken:
      "{amount} {wrong} eingegangen, aber dieser Link nimmt nur {symbol} an. Senden Sie das nicht noch einmal. Wenden Sie sich an den Verkäufer. Transaktion {hash}",
    pay: "{amount} {symbol} zahlen",
    paidTo: "{amount} {symbol} an {owner} gezahlt",
    returnToShop: "Zurück zum Shop",
    sentDirectly: "Geht direkt an die Wallet des Verkäufers",
    options: { title: "Zahlungsart", wallet: "Wallet", qr: "QR-Code", exchange: "Börse" },
    progress: {
      title: "Stand der Zahlung",
      confirm: "In der Wallet bestätigen",
      sent: "Gesendet",
      confirming: "Wird bestätigt",
      paid: "Bezahlt",
    },
    title: "{amount} {symbol} an {owner}",
    labels: {
      token: "Token",
      network: "Netzwerk",
      tokenContract: "Token-Contract",
      received: "Eingegangen",
      usage: " ({count} von {most} Zahlungen)",
      expires: "Läuft ab",
      description: "Beschreibung",
      advanced: "Erweitert",
      settlesTo: "Wallet des Verkäufers",
      amount: "Betrag",
      address: "Adresse",
      link: "Zahlungslink",
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
      network: "Netzwerk kopieren",
      link: "Link kopieren",
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
      email: {
        title: "Beleg per E-Mail senden",
        address: "E-Mail-Adresse",
        hint: "Wir verwenden die Adresse nur für diese E-Mail und speichern sie nicht.",
        send: "Beleg senden",
        sent: "Beleg gesendet. Sehen Sie in Ihrem Posteingang nach.",
        invalid: "Geben Sie eine gültige E-Mail-Adresse ein.",
        rejected:
          "Der Mailserver hat diese Adresse abgelehnt. Prüfen Sie sie und versuchen Sie es erneut.",
        tooMany: "Es wurden zu viele Belege angefordert. Versuchen Sie es später erneut.",
        failed: "Wir konnten den Beleg nicht senden. Versuchen Sie es später erneut.",
      },
    },
    noScript: "Um manuell zu zahlen, senden Sie die Transaktionen unter Erweitert.",
    qr: {
      alternative: "QR-Code für diese Seite",
      caption: "Scannen Sie den Code, um diese Seite auf Ihrem Handy zu öffnen und dort zu zahlen.",
    },
    apps: {
      open: "In {name} öffnen",
      more: "Andere Wallet-Apps",
    },
    plainTransfer:
      "Eine einfache Überweisung an die Adresse des Verkäufers bezahlt diesen Link nicht. Zahlen Sie über den Contract unten.",
    script: {
      noWallet:
        "In diesem Browser wurde keine Wallet gefunden. Scannen Sie den QR-Code mit Ihrem Handy, oder installieren Sie eine Wallet und laden Sie diese Seite neu.",
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
        "Ihre Wallet hat kein Ergebnis gemeldet. Wenn Sie die Zahlung dort bestätigt haben, warten Sie hier und zahlen Sie nicht noch einmal.",
      confirmBoth:
        "Bestätigen Sie in Ihrer Wallet: genau diesen Betrag für den Zahlungs-Contract freigeben und in einem Schritt zahlen.",
      taken:
        "Ihre Wallet hat die Zahlung angenommen. Warten auf das Netzwerk. Zahlen Sie nicht noch einmal.",
      sent: "Gesendet. Warten auf das Netzwerk. Zahlen Sie nicht noch einmal. Transaktion {hash}",
      mined:
        "In einem Block. Warten auf Bestätigung. Zahlen Sie nicht noch einmal. Transaktion {hash}",
      seen: "Zahlung von {amount} {symbol} erkannt. Zahlen Sie nicht noch einmal.",
      confirming: "Wird bestätigt ({seen} von {needed})",
      changedByWallet:
        "Ihre Wallet hat die Zahlung verändert. Sie ist ohne die Referenz dieses Links angekommen. Zahlen Sie nicht noch einmal. Bitten Sie den Verkäufer, sie zuzuordnen. Transaktion {hash}",
      uncounted:
        "Zahlung eingegangen, aber diesem Link nicht gutgeschrieben. Zahlen Sie nicht noch einmal. Fragen Sie den Verkäufer. Transaktion {hash}",
      failed: "Ihre Zahlung ist fehlgeschlagen. Es wurde nichts gezahlt. Sie können erneut zahlen.",
      refused:
        "Das Netzwerk hat Ihre Transaktion abgelehnt. Es wurde nichts gezahlt. Sie können erneut zahlen.",
      replaced:
        "Eine andere Transaktion Ihrer Wallet hat die Zahlung ersetzt. Diese Zahlung wurde nicht ausgeführt. Sie können erneut zahlen.",
      rejected:
        "Sie haben die Anfrage abgelehnt. Es wurde nichts gezahlt. Sie können es erneut versuchen.",
      busyWallet:
        "Ihre Wallet hat eine offene Anfrage. Schließen Sie sie dort ab und versuchen Sie es erneut.",
      wrongNetwork:
        "Ihre Wallet nutzt ein anderes Netzwerk. Wechseln Sie zu {chain} und versuchen Sie es erneut.",
      unknownNetwork:
        "Ihrer Wallet fehlt das Netzwerk {chain}. Fügen Sie es hinzu und versuchen Sie es erneut.",
      notAllowed:
        "Ihre Wallet ist nicht mit dieser Seite verbunden. Entsperren Sie sie, erlauben Sie die Verbindung und versuchen Sie es erneut. Es wurde nichts gezahlt.",
      cannotPay:
        "Diese Wallet kann hier nicht zahlen. Es wurde nichts gezahlt. Nutzen Sie eine andere Wallet oder zahlen Sie manuell unter Erweitert.",
      lacksToken:
        "{account} hat {balance} {symbol}, braucht aber {amount}. Es wurde nichts gesendet. Laden Sie auf oder wechseln Sie das Konto und versuchen Sie es erneut.",
      lacksGas:
        "{account} braucht mehr {coin} für die Netzwerkgebühr. Laden Sie auf und versuchen Sie es erneut. Es wurde nichts gesendet.",
      blocked:
        "Der Token-Contract würde diese Zahlung ablehnen. Vielleicht sperrt er Ihre Adresse oder die des Verkäufers. Es wurde nichts gezahlt. Wechseln Sie das Konto oder fragen Sie den Verkäufer, wie Sie zahlen können.",
      chainDown:
        "Ihre Wallet erreicht {chain} nicht. Es wurde nichts gezahlt. Versuchen Sie es gleich noch einmal.",
      stopped:
        "Ihre Wallet erreicht {chain} über einen Server, den diese Seite nicht zulässt. Es wurde nichts gezahlt. Nutzen Sie eine andere Wallet oder zahlen Sie manuell unter Erweitert.",
      walletFailed:
        "Ihre Wallet hat einen Fehler gemeldet. Es wurde nichts gezahlt. Versuchen Sie es erneut oder nutzen Sie eine andere Wallet.",
      allowanceRefused:
        "Das Netzwerk hat die Freigabe abgelehnt. Es wurde nichts gezahlt. Sie können es erneut versuchen.",
      allowanceWaits:
        "Die Freigabe steht noch aus. Es wurde nichts gezahlt. Sie können es erneut versuchen.",
      changed: "Dieser Link hat sich geändert. Prüfen Sie ihn, bevor Sie zahlen.",
      otherTab: "Dieser Link wird in einem anderen Tab bezahlt. Machen Sie dort weiter.",
      offline: "Keine Aktualisierung möglich. Verbindung wird hergestellt…",
      gone: "Meine Zahlung kam nicht an",
      otherMethod: "Zahlungsart ändern",
    },
    confirmGone: {
      title: "Zahlung wirklich fehlgeschlagen?",
      text: "Fahren Sie nur fort, wenn Ihre Wallet zeigt, dass die Zahlung abgebrochen wurde, fehlgeschlagen ist oder nie gesendet wurde. Kommt sie doch noch an, haben Sie zweimal gezahlt, und diese Seite kann das nicht ändern.",
      wait: "Weiter warten",
      gone: "Neue Zahlung erlauben",
    },
  },
  manualPayment: {
    payInWallet: "{amount} {symbol} in Ihrer Wallet bezahlen",
    qr: {
      alternative: "QR-Code der Zahlungsanforderung",
      caption: "Scannen Sie den Code mit Ihrer Wallet-App.",
    },
    solana:
      "Wallets mit Solana Pay füllen alles aus. Eine einfache Überweisung an den Verkäufer bezahlt diesen Link nicht.",
    solanaTransferRequest: {
      title: "Wallet öffnet sich nicht?",
      text: "Ihre Wallet erstellt diese Zahlung selbst, für den jetzigen Betrag. Laden Sie diese Seite neu, bevor Sie sie später nutzen.",
      payWithRequest: "Überweisung öffnen",
      alternative: "QR-Code der Überweisungsanforderung",
    },
    exchange: {
      withdraw:
        "Zahlen Sie bei Coinbase, Kraken oder einer anderen Börse {symbol} im Netzwerk {chain} an diese Adresse aus, ohne Memo. Nach Abzug der Gebühr der Börse müssen genau {amount} {symbol} ankommen.",
      addressNamesLink: "Dieser Link ist bezahlt, sobald das Netzwerk die Zahlung bestätigt.",
      assignedManually:
        "Senden Sie dem Verkäufer Ihre Transaktions-ID, damit er die Zahlung zuordnen kann. Zahlen Sie hier nicht noch einmal.",
      notTracked:
        "Eine Zahlung von einer Börse lässt sich diesem Link nicht zuordnen. Zahlen Sie zuerst an Ihre eigene Wallet aus und zahlen Sie dann von dort.",
    },
    bitcoin:
      "Diese Adresse ist nur für diesen Link. Senden Sie genau den Betrag, einmal. Die Gebühr Ihrer Wallet kommt dazu. Nach der Bestätigung ist der Link bezahlt.",
  },
  tron: {
    manual:
      "Um manuell zu zahlen, senden Sie die beiden Transaktionen unten nacheinander aus einer Tron-Wallet. Sie brauchen bis zu {energy} Energie. Ohne Energie kosten sie bis zu {fee} TRX, meist viel weniger.",
    noWallet:
      "In diesem Browser wurde keine Tron-Wallet gefunden. Scannen Sie den QR-Code mit Ihrem Handy, oder installieren Sie eine Wallet und laden Sie diese Seite neu.",
    account: "{account} hat {balance} {symbol}, {coins} {coin} und {energy} Energie",
    fee: "Das braucht {needed} Energie. Fehlende Energie kostet etwa {cost} {coin}, höchstens {limit}.",
    asked:
      "Ihre Wallet hat kein Ergebnis gemeldet. Wenn Sie die Zahlung dort bestätigt haben, warten Sie hier und zahlen Sie nicht noch einmal. Bestätigt sie niemand, läuft sie in etwa 2 Minuten ab, und Sie können erneut zahlen.",
    wrongNetwork:
      "Ihre Wallet nutzt ein anderes Netzwerk. Wählen Sie dort {chain} und versuchen Sie es erneut. Es wurde nichts gezahlt.",
    notAllowed:
      "Ihre Wallet ist gesperrt oder hat kein Konto. Entsperren Sie sie und versuchen Sie es erneut. Es wurde nichts gezahlt.",
    lacksGas:
      "{account} hat {coins} {coin}, aber dieser Schritt kostet wegen fehlender Energie etwa {cost}. Laden Sie {coin} auf und versuchen Sie es erneut. Es wurde nichts gezahlt.",
    lacksBandwidth:
      "Ihr Konto braucht mehr {coin} für die Bandbreitengebühr. Laden Sie auf und versuchen Sie es erneut. Es wurde nichts gezahlt.",
    tooDear:
      "Dieser Schritt braucht {needed} Energie, mehr als das Gebührenlimit von {limit} {coin} abdeckt. Es wurde nichts gezahlt. Fragen Sie den Verkäufer, wie Sie zahlen können.",
    different:
      "Ihre Wallet hat eine andere Transaktion erstellt als angefordert. Es wurde nichts gezahlt. Nutzen Sie eine andere Wallet oder zahlen Sie manuell unter Erweitert.",
    nodeRefused:
      "Der Knoten Ihrer Wallet hat die Transaktion abgelehnt. Es wurde nichts gezahlt. Versuchen Sie es erneut oder wählen Sie in Ihrer Wallet einen anderen Knoten.",
    late: "Ihre Bestätigung kam zu spät. Es wurde nichts gezahlt. Versuchen Sie es erneut und bestätigen Sie binnen einer Minute.",
    unanswered:
      "Die Anfrage in Ihrer Wallet ist abgelaufen. Es wurde nichts gezahlt. Sie können es erneut versuchen.",
    expired:
      "Ihre Zahlung ist abgelaufen, bevor ein Block sie aufnahm. Es wurde nichts gezahlt. Sie können erneut zahlen.",
    outOfEnergy:
      "Ihrer Transaktion ging die Energie aus. Die Gebühr ist weg, aber es wurde nichts gezahlt. Sie können erneut zahlen.",
    stopped:
      "Ihre Wallet nutzt einen Knoten, den diese Seite nicht zulässt. Es wurde nichts gezahlt. Wählen Sie den Standardknoten Ihrer Wallet, nutzen Sie eine andere Wallet oder zahlen Sie manuell unter Erweitert.",
  },
  wallet: {
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
  },
  site: {
    home: {
      introduction:
        "Fordern Sie Stablecoin-Zahlungen mit einem Link an. Zahlungen gehen direkt an Ihre eigene Wallet.",
      console: "Konsole öffnen",
      payerHint:
        "Sie haben einen Zahlungslink erhalten? Öffnen Sie ihn genau so, wie er kam. Seine Seite zeigt, wer wie viel verlangt.",
      docs: "Dokumentation für Entwickler",
    },
    console: {
      needsScript: "Die Konsole braucht JavaScript. Ein Anmeldelink geht auch ohne:",
      link: "Anmeldelink",
      submit: "Weiter",
    },
    errorPages: {
      404: {
        title: "Seite nicht gefunden",
        text: "Vielleicht ist der Link unvollständig. Öffnen Sie ihn genau so, wie Sie ihn erhalten haben, oder bitten Sie den Absender um einen neuen.",
      },
      429: {
        title: "Zu viele Anfragen",
        text: "Warten Sie einen Moment und laden Sie die Seite neu.",
      },
      failed: {
        title: "Etwas ist schiefgelaufen",
        text: "Versuchen Sie es gleich noch einmal.",
      },
    },
  },
};
