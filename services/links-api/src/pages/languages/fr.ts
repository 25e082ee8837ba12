import type { Texts } from "./en.ts";

/** All French texts. `\u00a0` is the space before `:` and `?`, at which no line breaks. */
export const french: Texts = {
  checkout: {
    states: {
      partial: "{received} sur {asked} {symbol} reçus, il reste {remaining} à payer.",
      remainderTooSmall:
        "{received} sur {asked} {symbol} reçus. Le reste, {remaining} {symbol}, est trop faible pour être envoyé sur {chain}. N’envoyez rien de plus. Demandez au vendeur de fermer ce lien.",
      completed: "Paiement effectué",
      paymentLimitReached:
        "Limite de paiements atteinte\u00a0: {received} sur {asked} {symbol} reçus. Ne payez pas une nouvelle fois.",
    },
    ended: {
      expired: {
        title: "Ce lien de paiement a expiré.",
        text: "N’envoyez rien. Demandez un nouveau lien au vendeur.",
      },
      inactive: {
        title: "Le vendeur a fermé ce lien de paiement.",
        text: "N’envoyez rien. Si vous souhaitez toujours payer, demandez un nouveau lien au vendeur.",
      },
      suspended: {
        title: "Ce lien de paiement est suspendu.",
        text: "L’opérateur de ce site a suspendu le compte du vendeur. N’envoyez rien. Contactez le vendeur.",
      },
    },
    cannotPay: "Vous ne pouvez pas payer ici",
    unpayable: {
      chain_not_watched:
        "Cette page ne suit pas les paiements sur {chain}. Demandez au vendeur comment payer. N’envoyez rien de vous-même à une adresse.",
      no_fee_proxy:
        "Ce jeton n’a pas de contrat de paiement sur {chain}. Demandez au vendeur comment payer. N’envoyez rien de vous-même à une adresse.",
      amount_not_payable:
        "Ce montant ne peut pas être envoyé sur {chain}. Demandez au vendeur un lien d’un autre montant.",
      destination_not_payable:
        "Le vendeur ne pourrait pas dépenser l’argent reçu à cette adresse sur {chain}. Demandez-lui un lien avec une autre adresse. N’envoyez rien à celle-ci.",
    },
    testMode: "Mode test. Pas d’argent réel.",
    testNetwork: "{chain} est un réseau de test sans argent réel.",
    unverified:
      "L’opérateur de ce site n’a pas vérifié ce vendeur. Ne payez que si vous le connaissez et lui faites confiance.",
    seen: "Paiement de {amount} {symbol} détecté. Ne payez pas une nouvelle fois.",
    wrongToken:
      "{amount} {wrong} reçus, mais ce lien n’accepte que {symbol}. Ne renvoyez rien. Contactez le vendeur. Transaction {hash}",
    pay: "Payer {amount} {symbol}",
    paidTo: "{amount} {symbol} payés à {owner}",
    returnToShop: "Retour à la boutique",
    sentDirectly: "Envoyé directement au portefeuille du vendeur",
    options: {
      title: "Moyen de paiement",
      wallet: "Portefeuille",
      qr: "Code QR",
      exchange: "Plateforme",
    },
    progress: {
      title: "Suivi du paiement",
      confirm: "Confirmer dans le portefeuille",
      sent: "Envoyé",
      confirming: "Confirmation",
      paid: "Payé",
    },
    title: "{amount} {symbol} à {owner}",
    labels: {
      token: "Jeton",
      network: "Réseau",
      tokenContract: "Contrat du jeton",
      received: "Reçu",
      usage: " ({count} paiements sur {most})",
      expires: "Expire le",
      description: "Description",
      advanced: "Avancé",
      settlesTo: "Portefeuille du vendeur",
      amount: "Montant",
      address: "Adresse",
      link: "Lien de paiement",
      paymentContract: "Contrat de paiement",
      paymentReference: "Référence du paiement",
      on: "Réseau",
      chain: "{name} (ID de chaîne {id})",
      to: "Destinataire",
      value: "Valeur (unités minimales)",
      data: "Données",
    },
    copy: {
      copy: "Copier",
      copied: "Copié",
      amount: "Copier le montant",
      network: "Copier le réseau",
      link: "Copier le lien",
      paymentContract: "Copier le contrat de paiement",
      paymentReference: "Copier la référence du paiement",
      to: "Copier l’adresse",
      value: "Copier la valeur",
      data: "Copier les données",
    },
    stepsTitle: "Envoyez ces transactions dans l’ordre",
    steps: {
      reset_allowance:
        "Annulez votre approbation précédente. Si vous n’en avez pas, ignorez cette étape.",
      approve: "Approuvez exactement ce montant pour le contrat de paiement.",
      pay: "Payez. Le contrat envoie le montant directement au vendeur.",
    },
    explorer: "Voir la transaction sur {host}",
    expiresIn: "Expire dans {left}",
    lastReceipt: "Voir le reçu",
    receipt: {
      title: "Reçu\u00a0: {amount} {symbol} à {owner}",
      state: "Paiement reçu",
      amount: "Montant payé",
      asked: "Montant demandé",
      received: "Total reçu",
      paidTo: "Payé à",
      sourceTransaction: "ID de la transaction",
      paid: "Date de paiement",
      id: "ID du paiement",
      link: "Voir le lien de paiement",
      print: "Imprimer le reçu",
      email: {
        title: "Envoyer le reçu par e-mail",
        address: "Adresse e-mail",
        hint: "Nous utilisons l'adresse uniquement pour cet e-mail et ne la conservons pas.",
        send: "Envoyer le reçu",
        sent: "Reçu envoyé. Consultez votre boîte de réception.",
        invalid: "Saisissez une adresse e-mail valide.",
        rejected: "Le serveur de messagerie a refusé cette adresse. Vérifiez-la et réessayez.",
        tooMany: "Trop de reçus ont été demandés. Réessayez plus tard.",
        failed: "Nous n'avons pas pu envoyer le reçu. Réessayez plus tard.",
      },
    },
    noScript: "Pour payer manuellement, envoyez les transactions indiquées sous Avancé.",
    qr: {
      alternative: "Code QR de cette page",
      caption: "Scannez-le pour ouvrir cette page sur votre téléphone et y payer.",
    },
    apps: {
      open: "Ouvrir dans {name}",
      more: "Autres portefeuilles",
    },
    plainTransfer:
      "Un simple transfert à l’adresse du vendeur ne paie pas ce lien. Payez via le contrat ci-dessous.",
    script: {
      noWallet:
        "Aucun portefeuille trouvé dans ce navigateur. Scannez le code QR avec votre téléphone, ou installez un portefeuille et rechargez cette page.",
      choose: "Choisissez un portefeuille",
      browserWallet: "Portefeuille du navigateur",
      connecting: "Approuvez la connexion dans votre portefeuille.",
      account: "{account} dispose de {balance} {symbol}",
      checking: "Vérification de votre solde…",
      allow:
        "Étape {step} sur {steps}\u00a0: approuvez exactement ce montant pour le contrat de paiement.",
      allowing: "Approbation envoyée. Vous n’avez pas encore payé. En attente du réseau…",
      payStep: "Étape {step} sur {steps}\u00a0: confirmez le paiement dans votre portefeuille.",
      confirm: "Confirmez le paiement dans votre portefeuille.",
      asked:
        "Votre portefeuille n’a communiqué aucun résultat. Si vous y avez confirmé le paiement, attendez ici et ne payez pas une nouvelle fois.",
      confirmBoth:
        "Confirmez dans votre portefeuille\u00a0: approuvez exactement ce montant pour le contrat de paiement et payez-le en une seule étape.",
      taken:
        "Votre portefeuille a accepté le paiement. En attente du réseau. Ne payez pas une nouvelle fois.",
      sent: "Envoyé. En attente du réseau. Ne payez pas une nouvelle fois. Transaction {hash}",
      mined:
        "Inclus dans un bloc. En attente de confirmation. Ne payez pas une nouvelle fois. Transaction {hash}",
      seen: "Paiement de {amount} {symbol} détecté. Ne payez pas une nouvelle fois.",
      confirming: "Confirmation ({seen} sur {needed})",
      changedByWallet:
        "Votre portefeuille a modifié le paiement, qui est arrivé sans la référence de ce lien. Ne payez pas une nouvelle fois. Demandez au vendeur de l’associer. Transaction {hash}",
      uncounted:
        "Paiement reçu, mais non attribué à ce lien. Ne payez pas une nouvelle fois. Contactez le vendeur. Transaction {hash}",
      failed: "Votre paiement a échoué. Rien n’a été payé. Vous pouvez payer à nouveau.",
      refused:
        "Le réseau a refusé votre transaction. Rien n’a été payé. Vous pouvez payer à nouveau.",
      replaced:
        "Une autre transaction de votre portefeuille a remplacé le paiement. Ce paiement n’a pas été effectué. Vous pouvez payer à nouveau.",
      rejected: "Vous avez refusé la demande. Rien n’a été payé. Vous pouvez réessayer.",
      busyWallet:
        "Une demande est en attente dans votre portefeuille. Terminez-la, puis réessayez.",
      wrongNetwork: "Votre portefeuille est sur un autre réseau. Passez à {chain} et réessayez.",
      unknownNetwork:
        "Le réseau {chain} est absent de votre portefeuille. Ajoutez-le et réessayez.",
      notAllowed:
        "Votre portefeuille n’est pas connecté à cette page. Déverrouillez-le, autorisez la connexion et réessayez. Rien n’a été payé.",
      cannotPay:
        "Ce portefeuille ne peut pas effectuer ce paiement. Rien n’a été payé. Utilisez un autre portefeuille ou payez manuellement sous Avancé.",
      lacksToken:
        "{account} dispose de {balance} {symbol}, mais il faut {amount}. Rien n’a été envoyé. Ajoutez des fonds ou changez de compte, puis réessayez.",
      lacksGas:
        "Il faut plus de {coin} sur {account} pour les frais de réseau. Ajoutez-en et réessayez. Rien n’a été envoyé.",
      blocked:
        "Le contrat du jeton refuserait ce paiement. Il bloque peut-être votre adresse ou celle du vendeur. Rien n’a été payé. Changez de compte ou demandez au vendeur comment payer.",
      chainDown:
        "Votre portefeuille ne parvient pas à joindre {chain}. Rien n’a été payé. Réessayez dans un instant.",
      stopped:
        "Votre portefeuille se connecte à {chain} par un serveur que cette page n’autorise pas. Rien n’a été payé. Utilisez un autre portefeuille ou payez manuellement sous Avancé.",
      walletFailed:
        "Votre portefeuille a signalé une erreur. Rien n’a été payé. Réessayez ou utilisez un autre portefeuille.",
      allowanceRefused:
        "Le réseau a refusé l’approbation. Rien n’a été payé. Vous pouvez réessayer.",
      allowanceWaits:
        "L’approbation est toujours en attente. Rien n’a été payé. Vous pouvez réessayer.",
      changed: "Ce lien a changé. Vérifiez-le avant de payer.",
      otherTab: "Ce lien est en cours de paiement dans un autre onglet. Continuez-y.",
      offline: "Mise à jour impossible. Reconnexion…",
      gone: "Mon paiement n’a pas abouti",
      otherMethod: "Changer de moyen de paiement",
    },
    confirmGone: {
      title: "Votre paiement a-t-il vraiment échoué\u00a0?",
      text: "Continuez uniquement si votre portefeuille indique que le paiement a été annulé, a échoué ou n’a jamais été envoyé. S’il arrive malgré tout, vous aurez payé deux fois et cette page ne pourra rien y changer.",
      wait: "Continuer à attendre",
      gone: "Autoriser un nouveau paiement",
    },
  },
  manualPayment: {
    payInWallet: "Payer {amount} {symbol} dans votre portefeuille",
    qr: {
      alternative: "Code QR de la demande de paiement",
      caption: "Scannez-le avec l’application de votre portefeuille.",
    },
    solana:
      "Les portefeuilles compatibles avec Solana Pay remplissent tout. Un simple transfert au vendeur ne paie pas ce lien.",
    solanaTransferRequest: {
      title: "Votre portefeuille ne s’ouvre pas\u00a0?",
      text: "Votre portefeuille crée lui-même ce paiement, pour le montant actuel. Si vous l’utilisez plus tard, rechargez d’abord cette page.",
      payWithRequest: "Ouvrir la demande de transfert",
      alternative: "Code QR de la demande de transfert",
    },
    exchange: {
      withdraw:
        "Sur Coinbase, Kraken ou une autre plateforme d’échange, retirez des {symbol} vers cette adresse sur le réseau {chain}, sans mémo. Une fois les frais de la plateforme déduits, exactement {amount} {symbol} doivent arriver.",
      addressNamesLink: "Ce lien est payé dès que le réseau confirme le paiement.",
      assignedManually:
        "Envoyez au vendeur l’ID de votre transaction pour qu’il puisse identifier votre paiement. Ne payez pas en plus ici.",
      notTracked:
        "Un paiement depuis une plateforme d’échange ne peut pas être associé à ce lien. Retirez d’abord les fonds vers votre propre portefeuille, puis payez depuis celui-ci.",
    },
    bitcoin:
      "Cette adresse ne sert qu’à ce lien. Envoyez le montant exact, une seule fois. Votre portefeuille ajoute ses frais. Le lien est payé après confirmation.",
  },
  tron: {
    manual:
      "Pour payer manuellement, envoyez dans l’ordre les deux transactions ci-dessous depuis un portefeuille Tron. Elles demandent jusqu’à {energy} d’énergie. Si votre compte n’a pas d’énergie, elles coûtent jusqu’à {fee} TRX, mais en général beaucoup moins.",
    noWallet:
      "Aucun portefeuille Tron trouvé dans ce navigateur. Scannez le code QR avec votre téléphone, ou installez un portefeuille et rechargez cette page.",
    account: "{account} dispose de {balance} {symbol}, {coins} {coin} et {energy} d’énergie",
    fee: "Cette étape demande {needed} d’énergie. L’énergie manquante coûte environ {cost} {coin}, au maximum {limit}.",
    asked:
      "Votre portefeuille n’a communiqué aucun résultat. Si vous y avez confirmé le paiement, attendez ici et ne payez pas une nouvelle fois. S’il n’est pas confirmé, il expire dans 2 minutes environ et vous pourrez payer à nouveau.",
    wrongNetwork:
      "Votre portefeuille est sur un autre réseau. Sélectionnez-y {chain} et réessayez. Rien n’a été payé.",
    notAllowed:
      "Votre portefeuille est verrouillé ou ne contient aucun compte. Déverrouillez-le et réessayez. Rien n’a été payé.",
    lacksGas:
      "{account} dispose de {coins} {coin}, mais cette étape coûte environ {cost} pour l’énergie manquante. Ajoutez des {coin} et réessayez. Rien n’a été payé.",
    lacksBandwidth:
      "Il faut plus de {coin} sur votre compte pour les frais de bande passante. Ajoutez-en et réessayez. Rien n’a été payé.",
    tooDear:
      "Cette étape demande {needed} d’énergie, plus que ce que couvre la limite de frais de {limit} {coin}. Rien n’a été payé. Demandez au vendeur comment payer.",
    different:
      "Votre portefeuille a créé une autre transaction que celle demandée. Rien n’a été payé. Utilisez un autre portefeuille ou payez manuellement sous Avancé.",
    nodeRefused:
      "Le nœud de votre portefeuille a refusé la transaction. Rien n’a été payé. Réessayez ou choisissez un autre nœud dans votre portefeuille.",
    late: "Votre confirmation est arrivée trop tard. Rien n’a été payé. Réessayez et confirmez en moins d’une minute.",
    unanswered:
      "La demande dans votre portefeuille a expiré. Rien n’a été payé. Vous pouvez réessayer.",
    expired:
      "Votre paiement a expiré avant d’être inclus dans un bloc. Rien n’a été payé. Vous pouvez payer à nouveau.",
    outOfEnergy:
      "Votre transaction a manqué d’énergie. Les frais ont été prélevés, mais rien n’a été payé. Vous pouvez payer à nouveau.",
    stopped:
      "Votre portefeuille utilise un nœud que cette page n’autorise pas. Rien n’a été payé. Choisissez le nœud par défaut de votre portefeuille, utilisez un autre portefeuille ou payez manuellement sous Avancé.",
  },
  wallet: {
    unknown: "Ce lien de paiement n’existe pas. Rien n’a été payé.",
    elsewhere: "Ce lien ne peut pas être payé sur Solana. Rien n’a été payé.",
    completed: "Ce lien est déjà payé. Ne payez pas une nouvelle fois.",
    expired: "Ce lien a expiré. Rien n’a été payé.",
    inactive: "Le vendeur a fermé ce lien. Rien n’a été payé.",
    held: "Ce lien est suspendu. Rien n’a été payé.",
    own_account: "Ce compte reçoit le paiement. Payez depuis un autre compte.",
    payment_seen: "Un paiement est en cours de confirmation. Ne payez pas à nouveau.",
    balance_too_low: "Pas assez de {symbol}\u00a0: il faut {amount}, vous avez {balance}.",
    noAccount: "Votre portefeuille a envoyé un compte non valide. Rien n’a été payé.",
    lost: "L’adresse n’est pas un portefeuille. Rien de payé. Contactez le vendeur.",
    away: "Solana est injoignable. Rien n’a été payé. Réessayez bientôt.",
    tooMany: "Trop de demandes. Rien n’a été payé. Réessayez bientôt.",
    failed: "Une erreur s’est produite. Rien n’a été payé. Réessayez bientôt.",
  },
  site: {
    home: {
      introduction:
        "Demandez des paiements en stablecoins avec un lien. L’argent arrive directement dans votre propre portefeuille.",
      console: "Ouvrir la console",
      payerHint:
        "Vous avez reçu un lien de paiement\u00a0? Ouvrez-le exactement tel qu’il vous a été envoyé. La page indique qui demande le paiement et le montant.",
      docs: "Documentation pour les développeurs",
    },
    console: {
      needsScript:
        "La console a besoin de JavaScript. Sans JavaScript, vous pouvez utiliser un lien de connexion\u00a0:",
      link: "Lien de connexion",
      submit: "Continuer",
    },
    errorPages: {
      404: {
        title: "Page introuvable",
        text: "Le lien est peut-être incomplet. Ouvrez-le exactement tel qu’il vous a été envoyé ou demandez-en un nouveau à l’expéditeur.",
      },
      429: {
        title: "Trop de demandes",
        text: "Patientez un instant, puis rechargez la page.",
      },
      failed: {
        title: "Une erreur s’est produite",
        text: "Réessayez dans un instant.",
      },
    },
  },
};
