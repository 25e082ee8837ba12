import type { Texts } from "./en.ts";

/** All Italian texts. */
export const italian: Texts = {
  checkout: {
    states: {
      partial: "Ricevuti {received} di {asked} {symbol}, mancano {remaining}.",
      remainderTooSmall:
        "Ricevuti {received} di {asked} {symbol}. Il resto, {remaining} {symbol}, è troppo piccolo per essere inviato su {chain}. Non inviare altro. Chiedi al venditore di chiudere questo link.",
      completed: "Pagamento completato",
      paymentLimitReached:
        "Limite di pagamenti raggiunto: ricevuti {received} di {asked} {symbol}. Non pagare di nuovo.",
    },
    ended: {
      expired: {
        title: "Questo link di pagamento è scaduto.",
        text: "Non inviare nulla. Chiedi un nuovo link al venditore.",
      },
      inactive: {
        title: "Il venditore ha chiuso questo link di pagamento.",
        text: "Non inviare nulla. Se vuoi ancora pagare, chiedi un nuovo link al venditore.",
      },
      suspended: {
        title: "Questo link di pagamento è sospeso.",
        text: "Il gestore di questo sito ha sospeso l’account del venditore. Non inviare nulla. Contatta il venditore.",
      },
    },
    cannotPay: "Qui non è possibile pagare",
    unpayable: {
      chain_not_watched:
        "Questa pagina non rileva i pagamenti su {chain}. Chiedi al venditore come pagare. Non inviare nulla a un indirizzo di tua iniziativa.",
      no_fee_proxy:
        "Questo token non ha un contratto di pagamento su {chain}. Chiedi al venditore come pagare. Non inviare nulla a un indirizzo di tua iniziativa.",
      amount_not_payable:
        "Questo importo non può essere inviato su {chain}. Chiedi al venditore un link con un altro importo.",
      destination_not_payable:
        "Il venditore non potrebbe spendere il denaro a questo indirizzo su {chain}. Chiedigli un link con un altro indirizzo. Non inviare nulla a questo.",
    },
    testMode: "Modalità di test. Nessun denaro reale.",
    testNetwork: "{chain} è una rete di test senza denaro reale.",
    unverified:
      "Il gestore di questo sito non ha verificato questo venditore. Paga solo se lo conosci e ti fidi.",
    seen: "Rilevato un pagamento di {amount} {symbol}. Non pagare di nuovo.",
    wrongToken:
      "Ricevuti {amount} {wrong}, ma questo link accetta solo {symbol}. Non inviarli di nuovo. Contatta il venditore. Transazione {hash}",
    pay: "Paga {amount} {symbol}",
    paidTo: "{amount} {symbol} pagati a {owner}",
    returnToShop: "Torna al negozio",
    sentDirectly: "Inviato direttamente al wallet del venditore",
    options: {
      title: "Metodo di pagamento",
      wallet: "Wallet",
      qr: "Codice QR",
      exchange: "Exchange",
    },
    progress: {
      title: "Stato del pagamento",
      confirm: "Conferma nel wallet",
      sent: "Inviato",
      confirming: "In conferma",
      paid: "Pagato",
    },
    title: "{amount} {symbol} a {owner}",
    labels: {
      token: "Token",
      network: "Rete",
      tokenContract: "Contratto del token",
      received: "Ricevuto",
      usage: " ({count} di {most} pagamenti)",
      expires: "Scadenza",
      description: "Descrizione",
      advanced: "Avanzate",
      settlesTo: "Wallet del venditore",
      amount: "Importo",
      address: "Indirizzo",
      link: "Link di pagamento",
      paymentContract: "Contratto di pagamento",
      paymentReference: "Riferimento del pagamento",
      on: "Rete",
      chain: "{name} (ID catena {id})",
      to: "Destinazione",
      value: "Valore (unità minime)",
      data: "Dati",
    },
    copy: {
      copy: "Copia",
      copied: "Copiato",
      amount: "Copia importo",
      network: "Copia rete",
      link: "Copia link",
      paymentContract: "Copia contratto di pagamento",
      paymentReference: "Copia riferimento del pagamento",
      to: "Copia indirizzo",
      value: "Copia valore",
      data: "Copia dati",
    },
    stepsTitle: "Invia queste transazioni in ordine",
    steps: {
      reset_allowance: "Azzera l’approvazione precedente. Se non ne hai, salta questo passaggio.",
      approve: "Approva esattamente questo importo per il contratto di pagamento.",
      pay: "Paga. Il contratto invia l’importo direttamente al venditore.",
    },
    explorer: "Vedi la transazione su {host}",
    expiresIn: "Scade tra {left}",
    lastReceipt: "Vedi ricevuta",
    receipt: {
      title: "Ricevuta: {amount} {symbol} a {owner}",
      state: "Pagamento ricevuto",
      amount: "Importo pagato",
      asked: "Richiesto",
      received: "Totale ricevuto",
      paidTo: "Pagato a",
      sourceTransaction: "ID transazione",
      paid: "Data di pagamento",
      id: "ID pagamento",
      link: "Vedi link di pagamento",
      print: "Stampa ricevuta",
      email: {
        title: "Invia ricevuta via e-mail",
        address: "Indirizzo e-mail",
        hint: "Usiamo l'indirizzo solo per questa e-mail e non lo salviamo.",
        send: "Invia ricevuta",
        sent: "Ricevuta inviata. Controlla la posta in arrivo.",
        invalid: "Inserisci un indirizzo e-mail valido.",
        rejected: "Il server di posta ha rifiutato questo indirizzo. Controllalo e riprova.",
        tooMany: "Sono state richieste troppe ricevute. Riprova più tardi.",
        failed: "Non è stato possibile inviare la ricevuta. Riprova più tardi.",
      },
    },
    noScript: "Per pagare manualmente, invia le transazioni indicate in Avanzate.",
    qr: {
      alternative: "Codice QR di questa pagina",
      caption: "Scansionalo per aprire questa pagina sul telefono e pagare da lì.",
    },
    apps: {
      open: "Apri in {name}",
      more: "Altri wallet",
    },
    plainTransfer:
      "Un semplice trasferimento all’indirizzo del venditore non paga questo link. Paga tramite il contratto qui sotto.",
    script: {
      noWallet:
        "Nessun wallet trovato in questo browser. Scansiona il codice QR con il telefono, oppure installa un wallet e ricarica questa pagina.",
      choose: "Scegli un wallet",
      browserWallet: "Wallet del browser",
      connecting: "Approva la connessione nel tuo wallet.",
      account: "{account} ha {balance} {symbol}",
      checking: "Verifica del saldo…",
      allow:
        "Passaggio {step} di {steps}: approva esattamente questo importo per il contratto di pagamento.",
      allowing: "Approvazione inviata. Non hai ancora pagato. In attesa della rete…",
      payStep: "Passaggio {step} di {steps}: conferma il pagamento nel tuo wallet.",
      confirm: "Conferma il pagamento nel tuo wallet.",
      asked:
        "Il tuo wallet non ha comunicato alcun esito. Se hai confermato il pagamento nel wallet, attendi qui e non pagare di nuovo.",
      confirmBoth:
        "Conferma nel tuo wallet: approva esattamente questo importo per il contratto di pagamento e pagalo in un solo passaggio.",
      taken: "Il tuo wallet ha accettato il pagamento. In attesa della rete. Non pagare di nuovo.",
      sent: "Inviato. In attesa della rete. Non pagare di nuovo. Transazione {hash}",
      mined: "Incluso in un blocco. In attesa di conferma. Non pagare di nuovo. Transazione {hash}",
      seen: "Rilevato un pagamento di {amount} {symbol}. Non pagare di nuovo.",
      confirming: "In conferma ({seen} di {needed})",
      changedByWallet:
        "Il tuo wallet ha modificato il pagamento, che è arrivato senza il riferimento di questo link. Non pagare di nuovo. Chiedi al venditore di associarlo. Transazione {hash}",
      uncounted:
        "Pagamento ricevuto, ma non applicato a questo link. Non pagare di nuovo. Contatta il venditore. Transazione {hash}",
      failed: "Il pagamento non è riuscito. Non è stato pagato nulla. Puoi pagare di nuovo.",
      refused:
        "La rete ha rifiutato la transazione. Non è stato pagato nulla. Puoi pagare di nuovo.",
      replaced:
        "Un’altra transazione del tuo wallet ha sostituito il pagamento. Questo pagamento non è stato effettuato. Puoi pagare di nuovo.",
      rejected: "Hai rifiutato la richiesta. Non è stato pagato nulla. Puoi riprovare.",
      busyWallet: "Il tuo wallet ha una richiesta in sospeso. Completala nel wallet e riprova.",
      wrongNetwork: "Il tuo wallet è su un’altra rete. Passa a {chain} e riprova.",
      unknownNetwork: "Il tuo wallet non ha la rete {chain}. Aggiungila e riprova.",
      notAllowed:
        "Il tuo wallet non è connesso a questa pagina. Sbloccalo, consenti la connessione e riprova. Non è stato pagato nulla.",
      cannotPay:
        "Questo wallet non può effettuare questo pagamento. Non è stato pagato nulla. Usa un altro wallet o paga manualmente in Avanzate.",
      lacksToken:
        "{account} ha {balance} {symbol}, ma ne servono {amount}. Non è stato inviato nulla. Aggiungi fondi o cambia account, poi riprova.",
      lacksGas:
        "{account} ha bisogno di più {coin} per la commissione di rete. Aggiungine e riprova. Non è stato inviato nulla.",
      blocked:
        "Il contratto del token rifiuterebbe questo pagamento. Potrebbe bloccare il tuo indirizzo o quello del venditore. Non è stato pagato nulla. Cambia account o chiedi al venditore come pagare.",
      chainDown:
        "Il tuo wallet non riesce a raggiungere {chain}. Non è stato pagato nulla. Riprova tra poco.",
      stopped:
        "Il tuo wallet si connette a {chain} tramite un server che questa pagina non consente. Non è stato pagato nulla. Usa un altro wallet o paga manualmente in Avanzate.",
      walletFailed:
        "Il tuo wallet ha segnalato un errore. Non è stato pagato nulla. Riprova o usa un altro wallet.",
      allowanceRefused:
        "La rete ha rifiutato l’approvazione. Non è stato pagato nulla. Puoi riprovare.",
      allowanceWaits:
        "L’approvazione è ancora in attesa. Non è stato pagato nulla. Puoi riprovare.",
      changed: "Questo link è cambiato. Controllalo prima di pagare.",
      otherTab: "Questo link viene pagato in un’altra scheda. Continua lì.",
      offline: "Aggiornamento non riuscito. Riconnessione in corso…",
      gone: "Il mio pagamento non è andato a buon fine",
      otherMethod: "Cambia metodo di pagamento",
    },
    confirmGone: {
      title: "Il pagamento è davvero fallito?",
      text: "Continua solo se il tuo wallet mostra che il pagamento è stato annullato, non è riuscito o non è mai stato inviato. Se dovesse comunque arrivare, avrai pagato due volte e questa pagina non può rimediare.",
      wait: "Continua ad attendere",
      gone: "Consenti nuovo pagamento",
    },
  },
  manualPayment: {
    payInWallet: "Paga {amount} {symbol} nel tuo wallet",
    qr: {
      alternative: "Codice QR della richiesta di pagamento",
      caption: "Scansionalo con l’app del tuo wallet.",
    },
    solana:
      "I wallet con Solana Pay compilano tutto. Un semplice trasferimento al venditore non paga questo link.",
    solanaTransferRequest: {
      title: "Il wallet non si apre?",
      text: "Il tuo wallet crea da sé questo pagamento, per l’importo attuale. Se lo usi più tardi, ricarica prima questa pagina.",
      payWithRequest: "Apri richiesta di trasferimento",
      alternative: "Codice QR della richiesta di trasferimento",
    },
    exchange: {
      withdraw:
        "In Coinbase, Kraken o un altro exchange, preleva {symbol} verso questo indirizzo sulla rete {chain}, senza memo. Al netto della commissione dell’exchange devono arrivare esattamente {amount} {symbol}.",
      addressNamesLink: "Questo link risulta pagato quando la rete conferma il pagamento.",
      assignedManually:
        "Invia al venditore l’ID della tua transazione, così può associare il pagamento. Non pagare anche qui.",
      notTracked:
        "Un pagamento da un exchange non può essere associato a questo link. Preleva prima verso il tuo wallet, poi paga da lì.",
    },
    bitcoin:
      "Questo indirizzo vale solo per questo link. Invia l’importo esatto, una sola volta. Il tuo wallet aggiunge la sua commissione. Il link risulta pagato dopo la conferma.",
  },
  tron: {
    manual:
      "Per pagare manualmente, invia in ordine le due transazioni qui sotto da un wallet Tron. Richiedono fino a {energy} di energia. Se il tuo account non ha energia, consumano fino a {fee} TRX, ma di solito molto meno.",
    noWallet:
      "Nessun wallet Tron trovato in questo browser. Scansiona il codice QR con il telefono, oppure installa un wallet e ricarica questa pagina.",
    account: "{account} ha {balance} {symbol}, {coins} {coin} e {energy} di energia",
    fee: "Servono {needed} di energia. L’energia mancante costa circa {cost} {coin}, al massimo {limit}.",
    asked:
      "Il tuo wallet non ha comunicato alcun esito. Se hai confermato il pagamento nel wallet, attendi qui e non pagare di nuovo. Se non viene confermato, scade tra circa 2 minuti e potrai pagare di nuovo.",
    wrongNetwork:
      "Il tuo wallet è su un’altra rete. Seleziona {chain} nel wallet e riprova. Non è stato pagato nulla.",
    notAllowed:
      "Il tuo wallet è bloccato o non ha alcun account. Sbloccalo e riprova. Non è stato pagato nulla.",
    lacksGas:
      "{account} ha {coins} {coin}, ma questo passaggio costa circa {cost} per l’energia mancante. Aggiungi {coin} e riprova. Non è stato pagato nulla.",
    lacksBandwidth:
      "Il tuo account ha bisogno di più {coin} per la commissione di banda. Aggiungine e riprova. Non è stato pagato nulla.",
    tooDear:
      "Questo passaggio richiede {needed} di energia, più di quanto copre il limite di commissione di {limit} {coin}. Non è stato pagato nulla. Chiedi al venditore come pagare.",
    different:
      "Il tuo wallet ha creato una transazione diversa da quella richiesta. Non è stato pagato nulla. Usa un altro wallet o paga manualmente in Avanzate.",
    nodeRefused:
      "Il nodo del tuo wallet ha rifiutato la transazione. Non è stato pagato nulla. Riprova o scegli un altro nodo nel wallet.",
    late: "La conferma è arrivata troppo tardi. Non è stato pagato nulla. Riprova e conferma entro un minuto.",
    unanswered: "La richiesta nel tuo wallet è scaduta. Non è stato pagato nulla. Puoi riprovare.",
    expired:
      "Il pagamento è scaduto prima di essere incluso in un blocco. Non è stato pagato nulla. Puoi pagare di nuovo.",
    outOfEnergy:
      "La transazione ha esaurito l’energia. La commissione è stata addebitata, ma non è stato pagato nulla. Puoi pagare di nuovo.",
    stopped:
      "Il tuo wallet usa un nodo che questa pagina non consente. Non è stato pagato nulla. Scegli il nodo predefinito del wallet, usa un altro wallet o paga manualmente in Avanzate.",
  },
  wallet: {
    unknown: "Questo link di pagamento non esiste. Nessun pagamento effettuato.",
    elsewhere: "Questo link non si può pagare su Solana. Nessun pagamento effettuato.",
    completed: "Questo link è già stato pagato. Non pagare di nuovo.",
    expired: "Questo link è scaduto. Nessun pagamento effettuato.",
    inactive: "Il venditore ha chiuso questo link. Nessun pagamento effettuato.",
    held: "Questo link è sospeso. Nessun pagamento effettuato.",
    own_account: "Questo account riceve il pagamento. Paga da un altro account.",
    payment_seen: "Un pagamento è in fase di conferma. Non pagare di nuovo.",
    balance_too_low: "{symbol} insufficienti: servono {amount}, ma ne hai {balance}.",
    noAccount: "Il wallet non ha inviato un account valido. Nessun pagamento effettuato.",
    lost: "L’indirizzo non è un wallet. Nessun pagamento. Contatta il venditore.",
    away: "Solana non è raggiungibile. Nessun pagamento. Riprova tra poco.",
    tooMany: "Troppe richieste. Nessun pagamento effettuato. Riprova tra poco.",
    failed: "Si è verificato un errore. Nessun pagamento effettuato. Riprova tra poco.",
  },
  site: {
    home: {
      introduction:
        "Richiedi pagamenti in stablecoin con un link. Il denaro arriva direttamente nel tuo wallet.",
      console: "Apri console",
      payerHint:
        "Hai ricevuto un link di pagamento? Aprilo esattamente come ti è stato inviato. La pagina mostra chi richiede il pagamento e l’importo.",
      docs: "Documentazione per sviluppatori",
    },
    console: {
      needsScript: "La console richiede JavaScript. Senza, puoi usare un link di accesso:",
      link: "Link di accesso",
      submit: "Continua",
    },
    errorPages: {
      404: {
        title: "Pagina non trovata",
        text: "Il link potrebbe essere incompleto. Aprilo esattamente come ti è stato inviato o chiedine uno nuovo al mittente.",
      },
      429: {
        title: "Troppe richieste",
        text: "Attendi un momento e ricarica la pagina.",
      },
      failed: {
        title: "Si è verificato un errore",
        text: "Riprova tra poco.",
      },
    },
  },
};
