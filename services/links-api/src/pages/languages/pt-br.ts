import type { Texts } from "./en.ts";

/** All texts in the Portuguese of Brazil. */
export const portuguese: Texts = {
  checkout: {
    states: {
      partial: "{received} de {asked} {symbol} recebidos, faltam {remaining}.",
      remainderTooSmall:
        "{received} de {asked} {symbol} recebidos. O restante, {remaining} {symbol}, é pequeno demais para ser enviado pela {chain}. Não envie mais nada. Peça ao vendedor que encerre este link.",
      completed: "Pagamento concluído",
      paymentLimitReached:
        "Limite de pagamentos atingido: {received} de {asked} {symbol} recebidos. Não pague novamente.",
    },
    ended: {
      expired: {
        title: "Este link de pagamento expirou.",
        text: "Não envie nada. Peça um novo link ao vendedor.",
      },
      inactive: {
        title: "O vendedor encerrou este link de pagamento.",
        text: "Não envie nada. Se ainda quiser pagar, peça um novo link ao vendedor.",
      },
      suspended: {
        title: "Este link de pagamento está suspenso.",
        text: "O operador deste site suspendeu a conta do vendedor. Não envie nada. Entre em contato com o vendedor.",
      },
    },
    cannotPay: "Não é possível pagar aqui",
    unpayable: {
      chain_not_watched:
        "Esta página não acompanha pagamentos na {chain}. Pergunte ao vendedor como pagar. Não envie nada a um endereço por conta própria.",
      no_fee_proxy:
        "Este token não tem contrato de pagamento na {chain}. Pergunte ao vendedor como pagar. Não envie nada a um endereço por conta própria.",
      amount_not_payable:
        "Este valor não pode ser enviado pela {chain}. Peça ao vendedor um link com outro valor.",
      destination_not_payable:
        "O vendedor não conseguiria gastar o dinheiro neste endereço na {chain}. Peça um link com outro endereço. Não envie nada a este.",
    },
    testMode: "Modo de teste. Sem dinheiro real.",
    testNetwork: "{chain} é uma rede de teste sem dinheiro real.",
    unverified:
      "O operador deste site não verificou este vendedor. Pague somente se você o conhece e confia nele.",
    seen: "Pagamento de {amount} {symbol} detectado. Não pague novamente.",
    wrongToken:
      "{amount} {wrong} recebidos, mas este link só aceita {symbol}. Não envie novamente. Entre em contato com o vendedor. Transação {hash}",
    pay: "Pagar {amount} {symbol}",
    paidTo: "{amount} {symbol} pagos a {owner}",
    returnToShop: "Voltar à loja",
    sentDirectly: "Enviado diretamente à carteira do vendedor",
    options: {
      title: "Forma de pagamento",
      wallet: "Carteira",
      qr: "QR code",
      exchange: "Corretora",
    },
    progress: {
      title: "Andamento do pagamento",
      confirm: "Confirmar na carteira",
      sent: "Enviado",
      confirming: "Confirmando",
      paid: "Pago",
    },
    title: "{amount} {symbol} para {owner}",
    labels: {
      token: "Token",
      network: "Rede",
      tokenContract: "Contrato do token",
      received: "Recebido",
      usage: " ({count} de {most} pagamentos)",
      expires: "Expira em",
      description: "Descrição",
      advanced: "Avançado",
      settlesTo: "Carteira do vendedor",
      amount: "Valor",
      address: "Endereço",
      link: "Link de pagamento",
      paymentContract: "Contrato de pagamento",
      paymentReference: "Referência do pagamento",
      on: "Rede",
      chain: "{name} (ID da rede {id})",
      to: "Destino",
      value: "Valor (unidades mínimas)",
      data: "Dados",
    },
    copy: {
      copy: "Copiar",
      copied: "Copiado",
      amount: "Copiar valor",
      network: "Copiar rede",
      link: "Copiar link",
      paymentContract: "Copiar contrato de pagamento",
      paymentReference: "Copiar referência do pagamento",
      to: "Copiar endereço",
      value: "Copiar valor",
      data: "Copiar dados",
    },
    stepsTitle: "Envie estas transações nesta ordem",
    steps: {
      reset_allowance: "Redefina sua aprovação anterior. Se não tiver nenhuma, pule esta etapa.",
      approve: "Aprove exatamente este valor para o contrato de pagamento.",
      pay: "Pague. O contrato envia o valor diretamente ao vendedor.",
    },
    explorer: "Ver transação em {host}",
    expiresIn: "Expira em {left}",
    lastReceipt: "Ver recibo",
    receipt: {
      title: "Recibo: {amount} {symbol} para {owner}",
      state: "Pagamento recebido",
      amount: "Valor pago",
      asked: "Solicitado",
      received: "Total recebido",
      paidTo: "Pago a",
      sourceTransaction: "ID da transação",
      paid: "Data do pagamento",
      id: "ID do pagamento",
      link: "Ver link de pagamento",
      print: "Imprimir recibo",
      email: {
        title: "Enviar recibo por e-mail",
        address: "E-mail",
        hint: "Usamos o endereço apenas para este e-mail e não o armazenamos.",
        send: "Enviar recibo",
        sent: "Recibo enviado. Confira sua caixa de entrada.",
        invalid: "Informe um e-mail válido.",
        rejected: "O servidor de e-mail recusou este endereço. Verifique-o e tente novamente.",
        tooMany: "Muitos recibos foram solicitados. Tente novamente mais tarde.",
        failed: "Não foi possível enviar o recibo. Tente novamente mais tarde.",
      },
    },
    noScript: "Para pagar manualmente, envie as transações em Avançado.",
    qr: {
      alternative: "QR code desta página",
      caption: "Escaneie para abrir esta página no celular e pagar por lá.",
    },
    apps: {
      open: "Abrir em {name}",
      more: "Outras carteiras",
    },
    plainTransfer:
      "Uma transferência simples para o endereço do vendedor não paga este link. Pague pelo contrato abaixo.",
    script: {
      noWallet:
        "Nenhuma carteira foi encontrada neste navegador. Escaneie o QR code com o celular ou instale uma carteira e recarregue esta página.",
      choose: "Escolha uma carteira",
      browserWallet: "Carteira do navegador",
      connecting: "Aprove a conexão na sua carteira.",
      account: "{account} tem {balance} {symbol}",
      checking: "Verificando seu saldo…",
      allow: "Etapa {step} de {steps}: aprove exatamente este valor para o contrato de pagamento.",
      allowing: "Aprovação enviada. Você ainda não pagou. Aguardando a rede…",
      payStep: "Etapa {step} de {steps}: confirme o pagamento na sua carteira.",
      confirm: "Confirme o pagamento na sua carteira.",
      asked:
        "Sua carteira não informou nenhum resultado. Se você confirmou o pagamento nela, aguarde aqui e não pague novamente.",
      confirmBoth:
        "Confirme na sua carteira: aprove exatamente este valor para o contrato de pagamento e pague em uma única etapa.",
      taken: "Sua carteira aceitou o pagamento. Aguardando a rede. Não pague novamente.",
      sent: "Enviado. Aguardando a rede. Não pague novamente. Transação {hash}",
      mined: "Incluído em um bloco. Aguardando confirmação. Não pague novamente. Transação {hash}",
      seen: "Pagamento de {amount} {symbol} detectado. Não pague novamente.",
      confirming: "Confirmando ({seen} de {needed})",
      changedByWallet:
        "Sua carteira alterou o pagamento, que chegou sem a referência deste link. Não pague novamente. Peça ao vendedor que o associe a este link. Transação {hash}",
      uncounted:
        "Pagamento recebido, mas não aplicado a este link. Não pague novamente. Entre em contato com o vendedor. Transação {hash}",
      failed: "Seu pagamento falhou. Nada foi pago. Você pode pagar novamente.",
      refused: "A rede rejeitou sua transação. Nada foi pago. Você pode pagar novamente.",
      replaced:
        "Outra transação da sua carteira substituiu o pagamento. Este pagamento não foi feito. Você pode pagar novamente.",
      rejected: "Você recusou a solicitação. Nada foi pago. Você pode tentar novamente.",
      busyWallet:
        "Sua carteira tem uma solicitação pendente. Conclua-a na carteira e tente novamente.",
      wrongNetwork: "Sua carteira está em outra rede. Mude para {chain} e tente novamente.",
      unknownNetwork: "Sua carteira não tem a rede {chain}. Adicione-a e tente novamente.",
      notAllowed:
        "Sua carteira não está conectada a esta página. Desbloqueie-a, permita a conexão e tente novamente. Nada foi pago.",
      cannotPay:
        "Esta carteira não consegue fazer este pagamento. Nada foi pago. Use outra carteira ou pague manualmente em Avançado.",
      lacksToken:
        "{account} tem {balance} {symbol}, mas precisa de {amount}. Nada foi enviado. Adicione saldo ou troque de conta e tente novamente.",
      lacksGas:
        "{account} precisa de mais {coin} para a taxa de rede. Adicione saldo e tente novamente. Nada foi enviado.",
      blocked:
        "O contrato do token rejeitaria este pagamento. Talvez ele bloqueie o seu endereço ou o do vendedor. Nada foi pago. Troque de conta ou pergunte ao vendedor como pagar.",
      chainDown:
        "Sua carteira não consegue acessar a {chain}. Nada foi pago. Tente novamente em instantes.",
      stopped:
        "Sua carteira se conecta à {chain} por um servidor que esta página não permite. Nada foi pago. Use outra carteira ou pague manualmente em Avançado.",
      walletFailed:
        "Sua carteira informou um erro. Nada foi pago. Tente novamente ou use outra carteira.",
      allowanceRefused: "A rede rejeitou a aprovação. Nada foi pago. Você pode tentar novamente.",
      allowanceWaits: "A aprovação ainda está pendente. Nada foi pago. Você pode tentar novamente.",
      changed: "Este link mudou. Confira antes de pagar.",
      otherTab: "Este link está sendo pago em outra aba. Continue por lá.",
      offline: "Não foi possível atualizar. Reconectando…",
      gone: "Meu pagamento não foi concluído",
      otherMethod: "Mudar forma de pagamento",
    },
    confirmGone: {
      title: "Seu pagamento falhou mesmo?",
      text: "Continue somente se a sua carteira mostrar que o pagamento foi cancelado, falhou ou nunca foi enviado. Se ele ainda chegar, você terá pago duas vezes, e esta página não pode desfazer isso.",
      wait: "Continuar aguardando",
      gone: "Permitir novo pagamento",
    },
  },
  manualPayment: {
    payInWallet: "Pagar {amount} {symbol} na sua carteira",
    qr: {
      alternative: "QR code da solicitação de pagamento",
      caption: "Escaneie com o app da sua carteira.",
    },
    solana:
      "Carteiras com Solana Pay preenchem tudo. Uma transferência simples ao vendedor não paga este link.",
    solanaTransferRequest: {
      title: "Sua carteira não abre?",
      text: "Sua carteira cria este pagamento sozinha, com o valor atual. Se for usá-lo mais tarde, recarregue esta página antes.",
      payWithRequest: "Abrir solicitação de transferência",
      alternative: "QR code da solicitação de transferência",
    },
    exchange: {
      withdraw:
        "Na Coinbase, na Kraken ou em outra corretora, saque {symbol} para este endereço pela rede {chain}, sem memo. Descontada a taxa da corretora, devem chegar exatamente {amount} {symbol}.",
      addressNamesLink: "Este link fica pago assim que a rede confirmar o pagamento.",
      assignedManually:
        "Envie ao vendedor o ID da sua transação para que ele identifique o pagamento. Não pague aqui também.",
      notTracked:
        "Um pagamento feito por uma corretora não pode ser associado a este link. Saque primeiro para a sua própria carteira e pague por ela.",
    },
    bitcoin:
      "Este endereço é só para este link. Envie o valor exato, uma única vez. Sua carteira acrescenta a taxa dela. O link fica pago após a confirmação.",
  },
  tron: {
    manual:
      "Para pagar manualmente, envie na ordem as duas transações abaixo a partir de uma carteira Tron. Elas precisam de até {energy} de energia. Se a sua conta não tiver energia, elas consomem até {fee} TRX, mas normalmente muito menos.",
    noWallet:
      "Nenhuma carteira Tron foi encontrada neste navegador. Escaneie o QR code com o celular ou instale uma carteira e recarregue esta página.",
    account: "{account} tem {balance} {symbol}, {coins} {coin} e {energy} de energia",
    fee: "Isto requer {needed} de energia. A energia que falta custa cerca de {cost} {coin}, no máximo {limit}.",
    asked:
      "Sua carteira não informou nenhum resultado. Se você confirmou o pagamento nela, aguarde aqui e não pague novamente. Se não for confirmado, ele expira em cerca de 2 minutos e você poderá pagar novamente.",
    wrongNetwork:
      "Sua carteira está em outra rede. Selecione {chain} nela e tente novamente. Nada foi pago.",
    notAllowed:
      "Sua carteira está bloqueada ou não tem nenhuma conta. Desbloqueie-a e tente novamente. Nada foi pago.",
    lacksGas:
      "{account} tem {coins} {coin}, mas esta etapa custa cerca de {cost} pela energia que falta. Adicione {coin} e tente novamente. Nada foi pago.",
    lacksBandwidth:
      "Sua conta precisa de mais {coin} para a taxa de largura de banda. Adicione saldo e tente novamente. Nada foi pago.",
    tooDear:
      "Esta etapa requer {needed} de energia, mais do que o limite de taxa de {limit} {coin} cobre. Nada foi pago. Pergunte ao vendedor como pagar.",
    different:
      "Sua carteira criou uma transação diferente da solicitada. Nada foi pago. Use outra carteira ou pague manualmente em Avançado.",
    nodeRefused:
      "O nó da sua carteira rejeitou a transação. Nada foi pago. Tente novamente ou escolha outro nó na sua carteira.",
    late: "Sua confirmação chegou tarde demais. Nada foi pago. Tente novamente e confirme em até um minuto.",
    unanswered: "A solicitação na sua carteira expirou. Nada foi pago. Você pode tentar novamente.",
    expired:
      "Seu pagamento expirou antes de entrar em um bloco. Nada foi pago. Você pode pagar novamente.",
    outOfEnergy:
      "Sua transação ficou sem energia. A taxa foi cobrada, mas nada foi pago. Você pode pagar novamente.",
    stopped:
      "Sua carteira usa um nó que esta página não permite. Nada foi pago. Escolha o nó padrão da sua carteira, use outra carteira ou pague manualmente em Avançado.",
  },
  wallet: {
    unknown: "Este link de pagamento não existe. Nada foi pago.",
    elsewhere: "Este link não pode ser pago na Solana. Nada foi pago.",
    completed: "Este link já foi pago. Não pague novamente.",
    expired: "Este link expirou. Nada foi pago.",
    inactive: "O vendedor encerrou este link. Nada foi pago.",
    held: "Este link está suspenso. Nada foi pago.",
    own_account: "Esta conta recebe o pagamento. Pague com outra conta.",
    payment_seen: "Um pagamento foi detectado e está em confirmação. Não pague novamente.",
    balance_too_low: "Saldo de {symbol} insuficiente: precisa de {amount}, tem {balance}.",
    noAccount: "Sua carteira não enviou uma conta válida. Nada foi pago.",
    lost: "O endereço não é uma carteira. Nada foi pago. Fale com o vendedor.",
    away: "A Solana não responde. Nada foi pago. Tente novamente em breve.",
    tooMany: "Muitas solicitações. Nada foi pago. Tente novamente em breve.",
    failed: "Algo deu errado. Nada foi pago. Tente novamente em breve.",
  },
  site: {
    home: {
      introduction:
        "Solicite pagamentos em stablecoins com um link. O dinheiro vai direto para a sua própria carteira.",
      console: "Abrir console",
      payerHint:
        "Recebeu um link de pagamento? Abra-o exatamente como foi enviado. A página mostra quem solicita o pagamento e o valor.",
      docs: "Documentação para desenvolvedores",
    },
    console: {
      needsScript: "O console precisa de JavaScript. Sem ele, você pode usar um link de acesso:",
      link: "Link de acesso",
      submit: "Continuar",
    },
    errorPages: {
      404: {
        title: "Página não encontrada",
        text: "O link pode estar incompleto. Abra-o exatamente como foi enviado ou peça um novo a quem o enviou.",
      },
      429: {
        title: "Muitas solicitações",
        text: "Aguarde um momento e recarregue a página.",
      },
      failed: {
        title: "Algo deu errado",
        text: "Tente novamente em instantes.",
      },
    },
  },
};
