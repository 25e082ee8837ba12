import { pickTranslation } from "../../ui/language.ts";

/** The texts of the deposits view. */
export const texts = pickTranslation({
  en: {
    title: "Unmatched payments",
    intro:
      "Transfers to your address that don't belong to a link, such as from an exchange. Assign each to a link or dismiss it. The money is already in your wallet.",
    decisions: { unmatched: "To review", assigned: "Assigned", dismissed: "Dismissed" },
    filterLabel: "Status",
    emptyUnmatched: "Transfers without a link will appear here.",
    emptyDecided: "None.",
    amount: "Amount",
    wrongToken: (symbol: string) =>
      `Wrong token: this is not ${symbol}. It can't pay a link. The money is in your wallet.`,
    state: "Status",
    states: {
      seen: "Processing",
      settled: "Settled",
      orphaned: "Reversed by its network",
    },
    timeColumn: "Date",
    sender: "From",
    transactionLabel: "Transaction",
    actions: "Actions",
    assign: "Assign…",
    dismiss: "Dismiss",
    viewLink: "View link",
    alreadyApplied: "A payment provider reported this payment. It was already counted.",
    assignTitle: (amount: string) => `Assign ${amount} to a link`,
    assignText:
      "The link is credited and your webhooks are notified. You can't undo this. A matching amount proves nothing; ask the payer if you are not sure.",
    likelyLinks: "Suggested links",
    noLikelyLinks: "No suggestions. Enter the link's ID.",
    otherLink: "Another link",
    linkId: "Link ID",
    linkIdHint: "Starts with plink_ and is part of the link's address.",
    reasons: {
      amount: "exact remaining amount",
      sender: "same sender as before",
      time: "created the day before",
    },
    remaining: (amount: string) => `${amount} remaining`,
    confirmAssign: "Assign to this link",
    chooseLink: "Choose a link or enter its ID.",
    dismissTitle: "Dismiss this payment?",
    dismissText:
      "It moves to the dismissed list. You can still assign it later.",
    downloadCsv: "Download all (CSV)",
    pendingCount: (count: string) => `Unmatched payments: ${count}`,
    reviewDeposits: "Review",
  },
  de: {
    title: "Nicht zugeordnete Zahlungen",
    intro:
      "Überweisungen an Ihre Adresse, die zu keinem Link gehören, etwa von einer Börse. Ordnen Sie jede einem Link zu oder verwerfen Sie sie. Das Geld ist bereits in Ihrer Wallet.",
    decisions: { unmatched: "Zu prüfen", assigned: "Zugeordnet", dismissed: "Verworfen" },
    filterLabel: "Status",
    emptyUnmatched: "Hier erscheinen Überweisungen ohne Link.",
    emptyDecided: "Keine.",
    amount: "Betrag",
    wrongToken: (symbol: string) =>
      `Falscher Token: Das ist kein ${symbol}. Damit kann kein Link bezahlt werden. Das Geld ist in Ihrer Wallet.`,
    state: "Status",
    states: {
      seen: "In Bearbeitung",
      settled: "Eingegangen",
      orphaned: "Vom Netzwerk rückgängig gemacht",
    },
    timeColumn: "Datum",
    sender: "Von",
    transactionLabel: "Transaktion",
    actions: "Aktionen",
    assign: "Zuordnen…",
    dismiss: "Verwerfen",
    viewLink: "Link ansehen",
    alreadyApplied: "Ein Zahlungsanbieter hat diese Zahlung gemeldet. Sie wurde bereits gezählt.",
    assignTitle: (amount: string) => `${amount} einem Link zuordnen`,
    assignText:
      "Der Betrag wird dem Link gutgeschrieben und Ihre Webhooks werden benachrichtigt. Das lässt sich nicht rückgängig machen. Ein passender Betrag beweist nichts; fragen Sie im Zweifel nach.",
    likelyLinks: "Vorschläge",
    noLikelyLinks:
      "Keine Vorschläge. Geben Sie die Link-ID ein.",
    otherLink: "Ein anderer Link",
    linkId: "Link-ID",
    linkIdHint: "Beginnt mit plink_ und ist Teil der Link-Adresse.",
    reasons: {
      amount: "genau der Restbetrag",
      sender: "gleicher Absender wie zuvor",
      time: "am Vortag erstellt",
    },
    remaining: (amount: string) => `noch ${amount}`,
    confirmAssign: "Diesem Link zuordnen",
    chooseLink: "Wählen Sie einen Link oder geben Sie seine ID ein.",
    dismissTitle: "Diese Zahlung verwerfen?",
    dismissText:
      "Sie wird in die Liste der verworfenen verschoben. Sie können sie später noch zuordnen.",
    downloadCsv: "Alle herunterladen (CSV)",
    pendingCount: (count: string) => `Nicht zugeordnete Zahlungen: ${count}`,
    reviewDeposits: "Prüfen",
  },
});
