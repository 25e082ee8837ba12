import { choose } from "../../ui/language.ts";

/** The words of the deposits' view. */
export const texts = choose({
  en: {
    title: "Money without a link",
    intro:
      "This reached your address and names no link: a plain transfer, as exchanges make them. Say which link it was for, or dismiss it. The money is in your wallet either way.",
    decisions: { unmatched: "To decide", assigned: "Assigned", dismissed: "Dismissed" },
    which: "Which",
    none: "Nothing. What comes without naming a link will stand here.",
    noneDecided: "Nothing.",
    amount: "Amount",
    wrongToken: (symbol: string) =>
      `Wrong token: this is not ${symbol}. It pays no link, and is in your wallet.`,
    state: "State",
    states: {
      seen: "Seen, not settled yet",
      settled: "Settled",
      orphaned: "Taken away by its chain",
    },
    when: "When",
    sender: "From",
    inTransaction: "Transaction",
    decide: "Decide",
    assign: "Assign…",
    dismiss: "Dismiss",
    toLink: "Its link",
    counted: "A payment provider reported this money. It counts already.",
    assignTitle: (amount: string) => `Which link were ${amount} for?`,
    assignText:
      "The link is credited, your webhooks are told, and it cannot be taken back. That an amount fits proves nothing: ask who paid if you are not sure.",
    likely: "Likely links",
    noneLikely: "No active link of this token is likely. Give the link's id.",
    other: "Another link",
    linkId: "The link's id",
    linkIdHint: "It begins with plink_ and stands in the link's address.",
    reasons: {
      amount: "just this is missing",
      sender: "an earlier deposit of this sender",
      time: "made within the day before",
    },
    remaining: (amount: string) => `${amount} missing`,
    confirm: "Assign to this link",
    choose: "Choose a link, or give its id.",
    dismissTitle: "Was this for no link?",
    dismissText:
      "It leaves this list. You find it among the dismissed ones and can still assign it.",
    csv: "Download all as CSV",
    overview: (count: string) => `Deposits that wait for your decision: ${count}.`,
    go: "Decide on them",
  },
  de: {
    title: "Geld ohne Link",
    intro:
      "Das kam bei Ihrer Adresse an und nennt keinen Link: eine einfache Überweisung, wie Börsen sie machen. Sagen Sie, für welchen Link es war, oder legen Sie es beiseite. Das Geld ist so oder so in Ihrer Wallet.",
    decisions: { unmatched: "Zu entscheiden", assigned: "Zugeordnet", dismissed: "Beiseitegelegt" },
    which: "Welche",
    none: "Nichts. Was kommt, ohne einen Link zu nennen, steht dann hier.",
    noneDecided: "Nichts.",
    amount: "Betrag",
    wrongToken: (symbol: string) =>
      `Falscher Token: Das ist kein ${symbol}. Er bezahlt keinen Link und ist in Ihrer Wallet.`,
    state: "Stand",
    states: {
      seen: "Gesehen, noch nicht endgültig",
      settled: "Endgültig",
      orphaned: "Von der Chain zurückgenommen",
    },
    when: "Wann",
    sender: "Von",
    inTransaction: "Transaktion",
    decide: "Entscheiden",
    assign: "Zuordnen…",
    dismiss: "Beiseitelegen",
    toLink: "Zum Link",
    counted: "Ein Zahlungsanbieter hat dieses Geld gemeldet. Es zählt schon.",
    assignTitle: (amount: string) => `Für welchen Link waren ${amount}?`,
    assignText:
      "Der Betrag wird dem Link gutgeschrieben, Ihre Webhooks erfahren davon, und es lässt sich nicht zurücknehmen. Dass ein Betrag passt, beweist nichts: Fragen Sie im Zweifel, wer gezahlt hat.",
    likely: "Wahrscheinliche Links",
    noneLikely:
      "Kein offener Link mit diesem Token ist wahrscheinlich. Geben Sie die ID des Links an.",
    other: "Ein anderer Link",
    linkId: "Die ID des Links",
    linkIdHint: "Sie beginnt mit plink_ und steht in der Adresse des Links.",
    reasons: {
      amount: "genau das fehlt noch",
      sender: "früheres Geld von diesem Absender",
      time: "am Tag davor angelegt",
    },
    remaining: (amount: string) => `${amount} fehlen`,
    confirm: "Diesem Link zuordnen",
    choose: "Wählen Sie einen Link oder geben Sie seine ID an.",
    dismissTitle: "War das für keinen Link?",
    dismissText:
      "Es verschwindet aus dieser Liste. Sie finden es unter den beiseitegelegten und können es weiterhin zuordnen.",
    csv: "Alles als CSV herunterladen",
    overview: (count: string) => `Eingänge, die auf Ihre Entscheidung warten: ${count}.`,
    go: "Entscheiden",
  },
});
