import { choose } from "./language.ts";

/** The words that every page has. */
export const texts = choose({
  en: {
    copy: "Copy",
    copied: "Copied",
    cancel: "Cancel",
    close: "Close",
    brokenTitle: "This view failed",
    broken: "Nothing was changed. Load the page again; if it fails again, tell your operator.",
    reload: "Load the page again",
    nowhere: "Nothing is here",
    loading: "Loading…",
    downloading: "Downloading…",
    stop: "Stop",
    stopped: "Stopped. Nothing was saved.",
    whole: (rows: string) => `The file is complete. Rows: ${rows}.`,
    saveAgain: "Save the file again",
    rows: (rows: string) => `Rows so far: ${rows}`,
    rowsOf: (rows: string, total: string) => `Rows: ${rows} of ${total}`,
    byBrowser: "Very large? Leave it to the browser, which saves as it comes",
    cutOff: "The file broke off before its end, so nothing was saved. Please try again.",
    noRoom: "This browser has no room for the file. Leave it to the browser, by the link below.",
    working: "Working…",
    again: "Try again",
    newer: "Newer",
    older: "Older",
    pages: "Pages",
    stored: "I have stored it",
    secretOnce: "It is shown this once and never again.",
    noWallet: "There is no Ethereum wallet in this browser.",
    walletRefused: "The wallet did not sign.",
    passkeyExists: "This device has a passkey here already.",
    noPasskey: "No passkey answered.",
    notProven: "Nothing was changed.",
    madeUnseen:
      "The try before made it, but its answer was lost, and the secret with it. It is in the list: take it away there, then make it anew.",
    unreachable:
      "The server cannot be reached. Nothing was lost here: try again when you are online.",
    busy: (seconds: number | undefined) =>
      seconds === undefined
        ? "Too many requests. Please wait a moment, then try again."
        : `Too many requests. Please try again in ${seconds} s.`,
    failed: "Something failed on the server's side. Please try again in a moment.",
    refused: "This did not succeed.",
    notFound: "There is nothing at this address, or it belongs to another account.",
    suspended: "Your account is suspended. Ask your operator.",
  },
  de: {
    copy: "Kopieren",
    copied: "Kopiert",
    cancel: "Abbrechen",
    close: "Schließen",
    brokenTitle: "Diese Ansicht ist gescheitert",
    broken:
      "Es wurde nichts geändert. Laden Sie die Seite neu; scheitert sie wieder, wenden Sie sich an Ihren Betreiber.",
    reload: "Seite neu laden",
    nowhere: "Hier ist nichts",
    loading: "Wird geladen…",
    downloading: "Wird heruntergeladen…",
    stop: "Anhalten",
    stopped: "Angehalten. Nichts wurde gespeichert.",
    whole: (rows: string) => `Die Datei ist vollständig. Zeilen: ${rows}.`,
    saveAgain: "Datei noch einmal speichern",
    rows: (rows: string) => `Zeilen bis jetzt: ${rows}`,
    rowsOf: (rows: string, total: string) => `Zeilen: ${rows} von ${total}`,
    byBrowser: "Sehr groß? Dem Browser überlassen, der gleich beim Laden speichert",
    cutOff:
      "Die Datei brach vor ihrem Ende ab, darum wurde nichts gespeichert. Bitte versuchen Sie es noch einmal.",
    noRoom:
      "Dieser Browser hat keinen Platz für die Datei. Überlassen Sie sie ihm durch den Link darunter.",
    working: "Einen Moment…",
    again: "Noch einmal versuchen",
    newer: "Neuere",
    older: "Ältere",
    pages: "Seiten",
    stored: "Ich habe es aufbewahrt",
    secretOnce: "Es wird nur dieses eine Mal gezeigt.",
    noWallet: "In diesem Browser gibt es keine Ethereum-Wallet.",
    walletRefused: "Die Wallet hat nicht unterschrieben.",
    passkeyExists: "Dieses Gerät hat hier schon einen Passkey.",
    noPasskey: "Kein Passkey hat geantwortet.",
    notProven: "Es wurde nichts geändert.",
    madeUnseen:
      "Der vorige Versuch hat es angelegt, aber seine Antwort ging verloren und mit ihr das Geheimnis. Es steht in der Liste: Entfernen Sie es dort und legen Sie es neu an.",
    unreachable:
      "Der Server ist nicht erreichbar. Hier ging nichts verloren: Versuchen Sie es wieder, sobald Sie online sind.",
    busy: (seconds: number | undefined) =>
      seconds === undefined
        ? "Zu viele Anfragen. Bitte warten Sie einen Moment und versuchen Sie es dann noch einmal."
        : `Zu viele Anfragen. Bitte versuchen Sie es in ${seconds} s noch einmal.`,
    failed: "Auf dem Server ist etwas gescheitert. Bitte versuchen Sie es gleich noch einmal.",
    refused: "Das hat nicht geklappt.",
    notFound: "Unter dieser Adresse ist nichts, oder es gehört zu einem anderen Konto.",
    suspended: "Ihr Konto ist gesperrt. Fragen Sie Ihren Betreiber.",
  },
});
