import type { ReceiptLanguage } from "@payment-links/contracts";

type Payment = { amount: string; token: string; shop: string };

/** All texts of a receipt in one language. */
type ReceiptTexts = {
  /** The locale of numbers and times, as on the receipt's page. */
  locale: string;
  subject(payment: Payment): string;
  introduction(payment: Payment): string;
  description: string;
  amount: string;
  network: string;
  paidAt: string;
  transactionId: string;
  explorer(host: string): string;
  action: string;
  footer: string;
};

/** The texts of receipts. Their terms are those of the receipt's page in links-api. */
export const receiptTexts: Readonly<Record<ReceiptLanguage, ReceiptTexts>> = {
  en: {
    locale: "en-GB",
    subject: ({ amount, token, shop }) => `Receipt: ${amount} ${token} to ${shop}`,
    introduction: ({ amount, token, shop }) => `You paid ${amount} ${token} to ${shop}.`,
    description: "Description",
    amount: "Amount paid",
    network: "Network",
    paidAt: "Date paid",
    transactionId: "Transaction ID",
    explorer: (host) => `View transaction on ${host}`,
    action: "View receipt",
    footer:
      "You receive this email because this address was entered on the receipt page. We did not store it. If this was not you, ignore this email.",
  },
  de: {
    locale: "de-DE",
    subject: ({ amount, token, shop }) => `Beleg: ${amount} ${token} an ${shop}`,
    introduction: ({ amount, token, shop }) => `Sie haben ${amount} ${token} an ${shop} gezahlt.`,
    description: "Beschreibung",
    amount: "Gezahlter Betrag",
    network: "Netzwerk",
    paidAt: "Gezahlt am",
    transactionId: "Transaktions-ID",
    explorer: (host) => `Transaktion auf ${host} ansehen`,
    action: "Beleg ansehen",
    footer:
      "Sie erhalten diese E-Mail, weil diese Adresse auf der Seite des Belegs eingegeben wurde. Wir haben sie nicht gespeichert. Wenn Sie das nicht waren, ignorieren Sie diese E-Mail.",
  },
  es: {
    locale: "es",
    subject: ({ amount, token, shop }) => `Recibo: ${amount} ${token} para ${shop}`,
    introduction: ({ amount, token, shop }) => `Has pagado ${amount} ${token} a ${shop}.`,
    description: "Descripción",
    amount: "Importe pagado",
    network: "Red",
    paidAt: "Fecha de pago",
    transactionId: "ID de la transacción",
    explorer: (host) => `Ver la transacción en ${host}`,
    action: "Ver recibo",
    footer:
      "Recibes este correo porque esta dirección se introdujo en la página del recibo. No la hemos guardado. Si no fuiste tú, ignora este correo.",
  },
  fr: {
    locale: "fr",
    subject: ({ amount, token, shop }) => `Reçu\u00a0: ${amount} ${token} à ${shop}`,
    introduction: ({ amount, token, shop }) => `Vous avez payé ${amount} ${token} à ${shop}.`,
    description: "Description",
    amount: "Montant payé",
    network: "Réseau",
    paidAt: "Date de paiement",
    transactionId: "ID de la transaction",
    explorer: (host) => `Voir la transaction sur ${host}`,
    action: "Voir le reçu",
    footer:
      "Vous recevez cet e-mail parce que cette adresse a été saisie sur la page du reçu. Nous ne l'avons pas enregistrée. Si ce n'était pas vous, ignorez cet e-mail.",
  },
  it: {
    locale: "it",
    subject: ({ amount, token, shop }) => `Ricevuta: ${amount} ${token} a ${shop}`,
    introduction: ({ amount, token, shop }) => `Hai pagato ${amount} ${token} a ${shop}.`,
    description: "Descrizione",
    amount: "Importo pagato",
    network: "Rete",
    paidAt: "Data di pagamento",
    transactionId: "ID transazione",
    explorer: (host) => `Vedi la transazione su ${host}`,
    action: "Vedi ricevuta",
    footer:
      "Ricevi questa e-mail perché questo indirizzo è stato inserito nella pagina della ricevuta. Non lo abbiamo salvato. Se non sei stato tu, ignora questa e-mail.",
  },
  ja: {
    locale: "ja",
    subject: ({ amount, token, shop }) => `領収書：${shop} への ${amount} ${token} の支払い`,
    introduction: ({ amount, token, shop }) => `${shop} に ${amount} ${token} を支払いました。`,
    description: "説明",
    amount: "支払い金額",
    network: "ネットワーク",
    paidAt: "支払い日",
    transactionId: "トランザクション ID",
    explorer: (host) => `${host} でトランザクションを表示`,
    action: "領収書を表示",
    footer:
      "このメールは、領収書のページでこのアドレスが入力されたため送信されました。アドレスは保存していません。心当たりがない場合は、このメールを無視してください。",
  },
  "pt-BR": {
    locale: "pt-BR",
    subject: ({ amount, token, shop }) => `Recibo: ${amount} ${token} para ${shop}`,
    introduction: ({ amount, token, shop }) => `Você pagou ${amount} ${token} a ${shop}.`,
    description: "Descrição",
    amount: "Valor pago",
    network: "Rede",
    paidAt: "Data do pagamento",
    transactionId: "ID da transação",
    explorer: (host) => `Ver transação em ${host}`,
    action: "Ver recibo",
    footer:
      "Você recebeu este e-mail porque este endereço foi informado na página do recibo. Não o armazenamos. Se não foi você, ignore este e-mail.",
  },
  "zh-Hans": {
    locale: "zh-Hans",
    subject: ({ amount, token, shop }) => `收据：向 ${shop} 支付 ${amount} ${token}`,
    introduction: ({ amount, token, shop }) => `您已向 ${shop} 支付 ${amount} ${token}。`,
    description: "说明",
    amount: "付款金额",
    network: "网络",
    paidAt: "付款日期",
    transactionId: "交易 ID",
    explorer: (host) => `在 ${host} 上查看交易`,
    action: "查看收据",
    footer:
      "您收到此邮件，是因为有人在收据页面上输入了此邮箱地址。我们没有保存该地址。如果不是您本人操作，请忽略此邮件。",
  },
};
