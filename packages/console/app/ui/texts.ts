import { pickTranslation } from "./language.ts";

/** The texts shared by all pages. */
export const texts = pickTranslation({
  en: {
    copy: "Copy",
    copied: "Copied",
    testMode: "test mode",
    cancel: "Cancel",
    close: "Close",
    viewErrorTitle: "Something went wrong",
    viewErrorText:
      "Nothing was changed. Reload the page. If the problem continues, contact your operator.",
    reload: "Reload page",
    notFoundTitle: "Page not found",
    loading: "Loading…",
    downloading: "Downloading…",
    stop: "Stop",
    stopped: "Stopped. Nothing was saved.",
    downloadComplete: (rows: string) => `Download complete. Rows: ${rows}.`,
    saveAgain: "Save again",
    rowCount: (rows: string) => `Rows so far: ${rows}`,
    rowProgress: (rows: string, total: string) => `Rows: ${rows} of ${total}`,
    downloadInBrowser: "Large file? Download with the browser",
    downloadTruncated: "The download was interrupted, so nothing was saved. Try again.",
    insufficientStorage:
      "There is not enough storage for the file. Use the browser download below.",
    working: "Working…",
    tryAgain: "Try again",
    newer: "Newer",
    older: "Older",
    pagination: "Pages",
    secretStoredConfirmation: "I have saved it",
    secretShownOnce: "It is shown only once.",
    noWallet: "No Ethereum wallet found in this browser.",
    walletRefused: "The wallet didn't sign the request.",
    passkeyExists: "This device already has a passkey for this account.",
    noPasskey: "No passkey was used.",
    presenceDeclined: "Nothing was changed.",
    secretLost:
      "It was created, but the response with its secret was lost. Remove it from the list and create a new one.",
    unreachable: "We couldn't reach the server. Check your connection and try again.",
    rateLimited: (seconds: number | undefined) =>
      seconds === undefined
        ? "Too many requests. Wait a moment and try again."
        : `Too many requests. Try again in ${seconds} s.`,
    serverError: "Something went wrong on our side. Try again in a moment.",
    requestFailed: "That didn't work. Try again.",
    notFound: "This page doesn't exist, or it belongs to another account.",
    accountSuspended: "Your account is suspended. Contact your operator.",
  },
  de: {
    copy: "Kopieren",
    copied: "Kopiert",
    testMode: "Testmodus",
    cancel: "Abbrechen",
    close: "Schließen",
    viewErrorTitle: "Etwas ist schiefgelaufen",
    viewErrorText:
      "Es wurde nichts geändert. Laden Sie die Seite neu. Besteht das Problem weiter, wenden Sie sich an Ihren Betreiber.",
    reload: "Seite neu laden",
    notFoundTitle: "Seite nicht gefunden",
    loading: "Wird geladen…",
    downloading: "Wird heruntergeladen…",
    stop: "Anhalten",
    stopped: "Angehalten. Nichts wurde gespeichert.",
    downloadComplete: (rows: string) => `Download abgeschlossen. Zeilen: ${rows}.`,
    saveAgain: "Erneut speichern",
    rowCount: (rows: string) => `Zeilen bis jetzt: ${rows}`,
    rowProgress: (rows: string, total: string) => `Zeilen: ${rows} von ${total}`,
    downloadInBrowser: "Große Datei? Mit dem Browser herunterladen",
    downloadTruncated:
      "Der Download wurde unterbrochen, es wurde nichts gespeichert. Versuchen Sie es noch einmal.",
    insufficientStorage:
      "Für die Datei ist nicht genug Speicher frei. Laden Sie sie unten mit dem Browser herunter.",
    working: "Einen Moment…",
    tryAgain: "Erneut versuchen",
    newer: "Neuere",
    older: "Ältere",
    pagination: "Seiten",
    secretStoredConfirmation: "Ich habe es gespeichert",
    secretShownOnce: "Es wird nur einmal angezeigt.",
    noWallet: "In diesem Browser wurde keine Ethereum-Wallet gefunden.",
    walletRefused: "Die Wallet hat die Anfrage nicht signiert.",
    passkeyExists: "Dieses Gerät hat bereits einen Passkey für dieses Konto.",
    noPasskey: "Es wurde kein Passkey verwendet.",
    presenceDeclined: "Es wurde nichts geändert.",
    secretLost:
      "Es wurde erstellt, aber die Antwort mit dem Geheimnis ging verloren. Entfernen Sie es aus der Liste und erstellen Sie ein neues.",
    unreachable:
      "Der Server ist nicht erreichbar. Prüfen Sie Ihre Verbindung und versuchen Sie es erneut.",
    rateLimited: (seconds: number | undefined) =>
      seconds === undefined
        ? "Zu viele Anfragen. Warten Sie einen Moment und versuchen Sie es erneut."
        : `Zu viele Anfragen. Versuchen Sie es in ${seconds} s erneut.`,
    serverError: "Bei uns ist etwas schiefgelaufen. Versuchen Sie es gleich noch einmal.",
    requestFailed: "Das hat nicht geklappt. Versuchen Sie es erneut.",
    notFound: "Diese Seite gibt es nicht, oder sie gehört zu einem anderen Konto.",
    accountSuspended: "Ihr Konto ist gesperrt. Wenden Sie sich an Ihren Betreiber.",
  },
});
