import { pickTranslation } from "../../ui/language.ts";

/** The texts of the deposits view. */
export const texts = pickTranslation({
  en: {
    title: "Money without a link",
    intro:
      "This reached your address and names no link: a plain transfer, as exchanges make them. Say which link it was for, or dismiss it. The money is in your wallet either way.",
    decisions: { unmatched: "To decide", assigned: "Assigned", dismissed: "Dismissed" },
    filterLabel: "Which",
    emptyUnmatched: "Nothing. What comes without naming a link will stand here.",
    emptyDecided: "Nothing.",
    amount: "Amount",
    wrongToken: (symbol: string) =>
      `Wrong token: this is not ${symbol}. It pays no link, and is in your wallet.`,
    state: "State",
    states: {
      seen: "Seen, not settled yet",
      settled: "Settled",
      orphaned: "Taken away by its chain",
    },
    timeColumn: "When",
    sender: "From",
    transactionLabel: "Transaction",
    actions: "Decide",
    assign: "Assign…",
    dismiss: "Dismiss",
    viewLink: "Its link",
    alreadyApplied: "A payment provider reported this money. It counts already.",
    assignTitle: (amount: string) => `Which link were ${amount} for?`,
    assignText:
      "The link is credited, your webhooks are told, and it cannot be taken back. That an amount fits proves nothing: ask who paid if you are not sure.",
    likelyLinks: "Likely links",
    noLikelyLinks: "No active link of this token is likely. Give the link's id.",
    otherLink: "Another link",
    linkId: "The link's id",
    linkIdHint: "It begins with plink_ and stands in the link's address.",
    reasons: {
      amount: "just this is missing",
      sender: "an earlier deposit of this sender",
      time: "made within the day before",
    },
    remaining: (amount: string) => `${amount} missing`,
    confirmAssign: "Assign to this link",
    chooseLink: "Choose a link, or give its id.",
    dismissTitle: "Was this for no link?",
    dismissText:
      "It leaves this list. You find it among the dismissed ones and can still assign it.",
    downloadCsv: "Download all as CSV",
    pendingCount: (count: string) => `Deposits that wait for your decision: ${count}.`,
    reviewDeposits: "Decide on them",
  },
  de: {
    title: "Geld ohne Link",
    intro:
      "Das kam bei Ihrer Adresse an und nennt keinen Link: eine einfache Überweisung, wie Börsen sie machen. Sagen Sie, für welchen Link es war, oder legen Sie es beiseite. Das Geld ist so oder so in Ihrer Wallet.",
    decisions: { unmatched: "Zu entscheiden", assigned: "Zugeordnet", dismissed: "Beiseitegelegt" },
    filterLabel: "Welche",
    emptyUnmatched: "Nichts. Was kommt, ohne einen Link zu nennen, steht dann hier.",
    emptyDecided: "Nichts.",
    amount: "Betrag",
    wrongToken: (symbol: string) =>
      `Falscher Token: Das ist kein ${symbol}. Er bezahlt keinen Link und ist in Ihrer Wallet.`,
    state: "Stand",
    states: {
      seen: "Gesehen, noch nicht endgültig",
      settled: "Endgültig",
      orphaned: "Von der Chain zurückgenommen",
    },
    timeColumn: "Wann",
    sender: "Von",
    transactionLabel: "Transaktion",
    actions: "Entscheiden",
    assign: "Zuordnen…",
    dismiss: "Beiseitelegen",
    viewLink: "Zum Link",
    alreadyApplied: "Ein Zahlungsanbieter hat dieses Geld gemeldet. Es zählt schon.",
    assignTitle: (amount: string) => `Für welchen Link waren ${amount}?`,
    assignText:
      "Der Betrag wird dem Link gutgeschrieben, Ihre Webhooks erfahren davon, und es lässt sich nicht zurücknehmen. Dass ein Betrag passt, beweist nichts: Fragen Sie im Zweifel, wer gezahlt hat.",
    likelyLinks: "Wahrscheinliche Links",
    noLikelyLinks:
      "Kein offener Link mit diesem Token ist wahrscheinlich. Geben Sie die ID des Links an.",
    otherLink: "Ein anderer Link",
    linkId: "Die ID des Links",
    linkIdHint: "Sie beginnt mit plink_ und steht in der Adresse des Links.",
    reasons: {
      amount: "genau das fehlt noch",
      sender: "früheres Geld von diesem Absender",
      time: "am Tag davor angelegt",
    },
    remaining: (amount: string) => `${amount} fehlen`,
    confirmAssign: "Diesem Link zuordnen",
    chooseLink: "Wählen Sie einen Link oder geben Sie seine ID an.",
    dismissTitle: "War das für keinen Link?",
    dismissText:
      "Es verschwindet aus dieser Liste. Sie finden es unter den beiseitegelegten und können es weiterhin zuordnen.",
    downloadCsv: "Alles als CSV herunterladen",
    pendingCount: (count: string) => `Eingänge, die auf Ihre Entscheidung warten: ${count}.`,
    reviewDeposits: "Entscheiden",
  },
});
