import type { Texts } from "./en.ts";

/** All Spanish texts. */
export const spanish: Texts = {
  checkout: {
    states: {
      partial: "Se han recibido {received} de {asked} {symbol}; faltan {remaining}.",
      remainderTooSmall:
        "Se han recibido {received} de {asked} {symbol}. El resto, {remaining} {symbol}, es demasiado pequeño para enviarlo por {chain}. No envíes nada más. Pide al vendedor que cierre este enlace.",
      completed: "Pago completado",
      paymentLimitReached:
        "Límite de pagos alcanzado: se han recibido {received} de {asked} {symbol}. No vuelvas a pagar.",
    },
    ended: {
      expired: {
        title: "Este enlace de pago ha expirado.",
        text: "No envíes nada. Pide un nuevo enlace al vendedor.",
      },
      inactive: {
        title: "El vendedor ha cerrado este enlace de pago.",
        text: "No envíes nada. Si todavía quieres pagar, pide un nuevo enlace al vendedor.",
      },
      suspended: {
        title: "Este enlace de pago está suspendido.",
        text: "El operador de este sitio ha suspendido la cuenta del vendedor. No envíes nada. Contacta con el vendedor.",
      },
    },
    cannotPay: "No puedes pagar aquí",
    unpayable: {
      chain_not_watched:
        "Esta página no detecta pagos en {chain}. Pregunta al vendedor cómo pagar. No envíes nada a ninguna dirección por tu cuenta.",
      no_fee_proxy:
        "Este token no tiene contrato de pago en {chain}. Pregunta al vendedor cómo pagar. No envíes nada a ninguna dirección por tu cuenta.",
      amount_not_payable:
        "Este importe no se puede enviar por {chain}. Pide al vendedor un enlace con otro importe.",
      destination_not_payable:
        "El vendedor no podría gastar el dinero en esta dirección de {chain}. Pídele un enlace con otra dirección. No envíes nada a esta.",
    },
    testMode: "Modo de prueba. Sin dinero real.",
    testNetwork: "{chain} es una red de pruebas sin dinero real.",
    unverified:
      "El operador de este sitio no ha verificado a este vendedor. Paga solo si lo conoces y confías en él.",
    seen: "Se ha detectado un pago de {amount} {symbol}. No vuelvas a pagar.",
    wrongToken:
      "Se han recibido {amount} {wrong}, pero este enlace solo acepta {symbol}. No vuelvas a enviarlo. Contacta con el vendedor. Transacción {hash}",
    pay: "Pagar {amount} {symbol}",
    paidTo: "{amount} {symbol} pagados a {owner}",
    returnToShop: "Volver a la tienda",
    sentDirectly: "Se envía directamente a la billetera del vendedor",
    options: {
      title: "Método de pago",
      wallet: "Billetera",
      qr: "Código QR",
      exchange: "Exchange",
    },
    progress: {
      title: "Estado del pago",
      confirm: "Confirmar en la billetera",
      sent: "Enviado",
      confirming: "Confirmando",
      paid: "Pagado",
    },
    title: "{amount} {symbol} para {owner}",
    labels: {
      token: "Token",
      network: "Red",
      tokenContract: "Contrato del token",
      received: "Recibido",
      usage: " ({count} de {most} pagos)",
      expires: "Vence",
      description: "Descripción",
      advanced: "Avanzado",
      settlesTo: "Billetera del vendedor",
      amount: "Importe",
      address: "Dirección",
      link: "Enlace de pago",
      paymentContract: "Contrato de pago",
      paymentReference: "Referencia del pago",
      on: "Red",
      chain: "{name} (ID de cadena {id})",
      to: "Destino",
      value: "Valor (unidades mínimas)",
      data: "Datos",
    },
    copy: {
      copy: "Copiar",
      copied: "Copiado",
      amount: "Copiar importe",
      network: "Copiar red",
      link: "Copiar enlace",
      paymentContract: "Copiar contrato de pago",
      paymentReference: "Copiar referencia del pago",
      to: "Copiar dirección",
      value: "Copiar valor",
      data: "Copiar datos",
    },
    stepsTitle: "Envía estas transacciones en orden",
    steps: {
      reset_allowance: "Anula tu aprobación anterior. Si no tienes ninguna, omite este paso.",
      approve: "Aprueba exactamente este importe para el contrato de pago.",
      pay: "Paga. El contrato envía el importe directamente al vendedor.",
    },
    explorer: "Ver la transacción en {host}",
    expiresIn: "Vence en {left}",
    lastReceipt: "Ver recibo",
    receipt: {
      title: "Recibo: {amount} {symbol} para {owner}",
      state: "Pago recibido",
      amount: "Importe pagado",
      asked: "Solicitado",
      received: "Total recibido",
      paidTo: "Pagado a",
      sourceTransaction: "ID de la transacción",
      paid: "Fecha de pago",
      id: "ID del pago",
      link: "Ver enlace de pago",
      print: "Imprimir recibo",
      email: {
        title: "Enviar recibo por correo",
        address: "Correo electrónico",
        hint: "Usamos la dirección solo para este correo y no la guardamos.",
        send: "Enviar recibo",
        sent: "Recibo enviado. Revisa tu bandeja de entrada.",
        invalid: "Introduce un correo electrónico válido.",
        rejected: "El servidor de correo rechazó esta dirección. Revísala e inténtalo de nuevo.",
        tooMany: "Se han solicitado demasiados recibos. Inténtalo más tarde.",
        failed: "No pudimos enviar el recibo. Inténtalo más tarde.",
      },
    },
    noScript: "Para pagar manualmente, envía las transacciones que aparecen en Avanzado.",
    qr: {
      alternative: "Código QR de esta página",
      caption: "Escanéalo para abrir esta página en tu teléfono y pagar desde allí.",
    },
    apps: {
      open: "Abrir en {name}",
      more: "Otras billeteras",
    },
    plainTransfer:
      "Una transferencia simple a la dirección del vendedor no paga este enlace. Paga a través del contrato que aparece abajo.",
    script: {
      noWallet:
        "No se ha encontrado ninguna billetera en este navegador. Escanea el código QR con tu teléfono, o instala una billetera y recarga esta página.",
      choose: "Elige una billetera",
      browserWallet: "Billetera del navegador",
      connecting: "Aprueba la conexión en tu billetera.",
      account: "{account} tiene {balance} {symbol}",
      checking: "Comprobando tu saldo…",
      allow: "Paso {step} de {steps}: aprueba exactamente este importe para el contrato de pago.",
      allowing: "Aprobación enviada. Todavía no has pagado. Esperando a la red…",
      payStep: "Paso {step} de {steps}: confirma el pago en tu billetera.",
      confirm: "Confirma el pago en tu billetera.",
      asked:
        "Tu billetera no ha comunicado ningún resultado. Si confirmaste el pago allí, espera aquí y no vuelvas a pagar.",
      confirmBoth:
        "Confirma en tu billetera: aprueba exactamente este importe para el contrato de pago y págalo en un solo paso.",
      taken: "Tu billetera ha aceptado el pago. Esperando a la red. No vuelvas a pagar.",
      sent: "Enviado. Esperando a la red. No vuelvas a pagar. Transacción {hash}",
      mined: "En un bloque. Esperando la confirmación. No vuelvas a pagar. Transacción {hash}",
      seen: "Se ha detectado un pago de {amount} {symbol}. No vuelvas a pagar.",
      confirming: "Confirmando ({seen} de {needed})",
      changedByWallet:
        "Tu billetera ha modificado el pago y ha llegado sin la referencia de este enlace. No vuelvas a pagar. Pide al vendedor que lo asigne. Transacción {hash}",
      uncounted:
        "El pago se ha recibido, pero no se ha aplicado a este enlace. No vuelvas a pagar. Contacta con el vendedor. Transacción {hash}",
      failed: "Tu pago ha fallado. No se ha pagado nada. Puedes volver a pagar.",
      refused: "La red ha rechazado tu transacción. No se ha pagado nada. Puedes volver a pagar.",
      replaced:
        "Otra transacción de tu billetera ha sustituido el pago. Este pago no se ha realizado. Puedes volver a pagar.",
      rejected: "Has rechazado la solicitud. No se ha pagado nada. Puedes volver a intentarlo.",
      busyWallet:
        "Tu billetera tiene una solicitud pendiente. Complétala allí e inténtalo de nuevo.",
      wrongNetwork: "Tu billetera está en otra red. Cambia a {chain} e inténtalo de nuevo.",
      unknownNetwork: "Tu billetera no tiene la red {chain}. Añádela e inténtalo de nuevo.",
      notAllowed:
        "Tu billetera no está conectada a esta página. Desbloquéala, permite la conexión e inténtalo de nuevo. No se ha pagado nada.",
      cannotPay:
        "Esta billetera no puede hacer este pago. No se ha pagado nada. Usa otra billetera o paga manualmente en Avanzado.",
      lacksToken:
        "{account} tiene {balance} {symbol}, pero necesita {amount}. No se ha enviado nada. Añade fondos o cambia de cuenta e inténtalo de nuevo.",
      lacksGas:
        "{account} necesita más {coin} para la comisión de red. Añade fondos e inténtalo de nuevo. No se ha enviado nada.",
      blocked:
        "El contrato del token rechazaría este pago. Es posible que bloquee tu dirección o la del vendedor. No se ha pagado nada. Cambia de cuenta o pregunta al vendedor cómo pagar.",
      chainDown:
        "Tu billetera no puede conectarse a {chain}. No se ha pagado nada. Inténtalo de nuevo en un momento.",
      stopped:
        "Tu billetera se conecta a {chain} a través de un servidor que esta página no permite. No se ha pagado nada. Usa otra billetera o paga manualmente en Avanzado.",
      walletFailed:
        "Tu billetera ha dado un error. No se ha pagado nada. Inténtalo de nuevo o usa otra billetera.",
      allowanceRefused:
        "La red ha rechazado la aprobación. No se ha pagado nada. Puedes volver a intentarlo.",
      allowanceWaits:
        "La aprobación sigue pendiente. No se ha pagado nada. Puedes volver a intentarlo.",
      changed: "Este enlace ha cambiado. Revísalo antes de pagar.",
      otherTab: "Este enlace se está pagando en otra pestaña. Continúa allí.",
      offline: "No se puede actualizar. Reconectando…",
      gone: "Mi pago no se ha realizado",
      otherMethod: "Cambiar método de pago",
    },
    confirmGone: {
      title: "¿Seguro que tu pago ha fallado?",
      text: "Continúa solo si tu billetera muestra que el pago se canceló, falló o nunca se envió. Si aun así llega, habrás pagado dos veces y esta página no puede deshacerlo.",
      wait: "Seguir esperando",
      gone: "Permitir otro pago",
    },
  },
  manualPayment: {
    payInWallet: "Pagar {amount} {symbol} en tu billetera",
    qr: {
      alternative: "Código QR de la solicitud de pago",
      caption: "Escanéalo con la app de tu billetera.",
    },
    solana:
      "Las billeteras con Solana Pay lo rellenan todo. Una transferencia simple al vendedor no paga este enlace.",
    solanaTransferRequest: {
      title: "¿No se abre tu billetera?",
      text: "Tu billetera crea este pago por sí misma, con el importe actual. Si vas a usarlo más tarde, recarga antes esta página.",
      payWithRequest: "Abrir solicitud de transferencia",
      alternative: "Código QR de la solicitud de transferencia",
    },
    exchange: {
      withdraw:
        "En Coinbase, Kraken u otro exchange, retira {symbol} a esta dirección por la red {chain}, sin memo. Tras descontar la comisión del exchange, deben llegar exactamente {amount} {symbol}.",
      addressNamesLink: "Este enlace queda pagado cuando la red confirma el pago.",
      assignedManually:
        "Envía al vendedor el ID de tu transacción para que pueda identificar tu pago. No pagues también aquí.",
      notTracked:
        "Un pago desde un exchange no se puede asociar a este enlace. Retira primero los fondos a tu propia billetera y paga desde ella.",
    },
    bitcoin:
      "Esta dirección es solo para este enlace. Envía el importe exacto, una sola vez. Tu billetera añade su comisión. El enlace queda pagado tras la confirmación.",
  },
  tron: {
    manual:
      "Para pagar manualmente, envía en orden las dos transacciones de abajo desde una billetera de Tron. Necesitan hasta {energy} de energía. Si tu cuenta no tiene energía, consumen hasta {fee} TRX, aunque normalmente mucho menos.",
    noWallet:
      "No se ha encontrado ninguna billetera de Tron en este navegador. Escanea el código QR con tu teléfono, o instala una billetera y recarga esta página.",
    account: "{account} tiene {balance} {symbol}, {coins} {coin} y {energy} de energía",
    fee: "Esto requiere {needed} de energía. La energía que falta cuesta unos {cost} {coin}, como máximo {limit}.",
    asked:
      "Tu billetera no ha comunicado ningún resultado. Si confirmaste el pago allí, espera aquí y no vuelvas a pagar. Si no se confirma, caduca en unos 2 minutos y podrás volver a pagar.",
    wrongNetwork:
      "Tu billetera está en otra red. Selecciona {chain} en ella e inténtalo de nuevo. No se ha pagado nada.",
    notAllowed:
      "Tu billetera está bloqueada o no tiene ninguna cuenta. Desbloquéala e inténtalo de nuevo. No se ha pagado nada.",
    lacksGas:
      "{account} tiene {coins} {coin}, pero este paso cuesta unos {cost} por la energía que falta. Añade {coin} e inténtalo de nuevo. No se ha pagado nada.",
    lacksBandwidth:
      "Tu cuenta necesita más {coin} para la comisión de ancho de banda. Añade fondos e inténtalo de nuevo. No se ha pagado nada.",
    tooDear:
      "Este paso requiere {needed} de energía, más de lo que cubre el límite de comisión de {limit} {coin}. No se ha pagado nada. Pregunta al vendedor cómo pagar.",
    different:
      "Tu billetera ha creado una transacción distinta de la solicitada. No se ha pagado nada. Usa otra billetera o paga manualmente en Avanzado.",
    nodeRefused:
      "El nodo de tu billetera ha rechazado la transacción. No se ha pagado nada. Inténtalo de nuevo o elige otro nodo en tu billetera.",
    late: "Tu confirmación ha llegado demasiado tarde. No se ha pagado nada. Inténtalo de nuevo y confirma en menos de un minuto.",
    unanswered:
      "La solicitud en tu billetera ha caducado. No se ha pagado nada. Puedes volver a intentarlo.",
    expired:
      "Tu pago ha caducado antes de entrar en un bloque. No se ha pagado nada. Puedes volver a pagar.",
    outOfEnergy:
      "Tu transacción se ha quedado sin energía. Se ha cobrado la comisión, pero no se ha pagado nada. Puedes volver a pagar.",
    stopped:
      "Tu billetera usa un nodo que esta página no permite. No se ha pagado nada. Elige el nodo predeterminado de tu billetera, usa otra billetera o paga manualmente en Avanzado.",
  },
  wallet: {
    unknown: "Este enlace de pago no existe. No se ha pagado nada.",
    elsewhere: "Este enlace no se puede pagar en Solana. No se ha pagado nada.",
    completed: "Este enlace ya está pagado. No vuelvas a pagar.",
    expired: "Este enlace ha expirado. No se ha pagado nada.",
    inactive: "El vendedor ha cerrado este enlace. No se ha pagado nada.",
    held: "Este enlace está suspendido. No se ha pagado nada.",
    own_account: "Esta cuenta recibe el pago. Paga desde otra cuenta.",
    payment_seen: "Se ha detectado un pago y se está confirmando. No vuelvas a pagar.",
    balance_too_low: "Saldo de {symbol} insuficiente: necesitas {amount} y tienes {balance}.",
    noAccount: "Tu billetera no ha enviado una cuenta válida. No se ha pagado nada.",
    lost: "La dirección no es una billetera. Nada pagado. Contacta con el vendedor.",
    away: "Solana no responde. No se ha pagado nada. Inténtalo en un momento.",
    tooMany: "Demasiadas solicitudes. No se ha pagado nada. Inténtalo en un momento.",
    failed: "Ha ocurrido un error. No se ha pagado nada. Inténtalo en un momento.",
  },
  site: {
    home: {
      introduction:
        "Solicita pagos en stablecoins con un enlace. El dinero llega directamente a tu propia billetera.",
      console: "Abrir consola",
      payerHint:
        "¿Has recibido un enlace de pago? Ábrelo tal como te lo enviaron. La página muestra quién solicita el pago y el importe.",
      docs: "Documentación para desarrolladores",
    },
    console: {
      needsScript:
        "La consola necesita JavaScript. Sin él, puedes usar un enlace de inicio de sesión:",
      link: "Enlace de inicio de sesión",
      submit: "Continuar",
    },
    errorPages: {
      404: {
        title: "Página no encontrada",
        text: "Es posible que el enlace esté incompleto. Ábrelo tal como te lo enviaron o pide uno nuevo a quien te lo envió.",
      },
      429: {
        title: "Demasiadas solicitudes",
        text: "Espera un momento y recarga la página.",
      },
      failed: {
        title: "Ha ocurrido un error",
        text: "Inténtalo de nuevo en un momento.",
      },
    },
  },
};
