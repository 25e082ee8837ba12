import { pickTranslation } from "./language.ts";

/** The texts shared by all pages. */
export const texts = pickTranslation({
  en: {
    copy: "Copy",
    copied: "Copied",
    cancel: "Cancel",
    close: "Close",
    viewErrorTitle: "This view failed",
    viewErrorText:
      "Nothing was changed. Load the page again; if it fails again, tell your operator.",
    reload: "Load the page again",
    notFoundTitle: "Nothing is here",
    loading: "Loading…",
    downloading: "Downloading…",
    stop: "Stop",
    stopped: "Stopped. Nothing was saved.",
    downloadComplete: (rows: string) => `The file is complete. Rows: ${rows}.`,
    saveAgain: "Save the file again",
    rowCount: (rows: string) => `Rows so far: ${rows}`,
    rowProgress: (rows: string, total: string) => `Rows: ${rows} of ${total}`,
    downloadInBrowser: "Very large? Leave it to the browser, which saves as it comes",
    downloadTruncated: "The file broke off before its end, so nothing was saved. Please try again.",
    insufficientStorage:
      "This browser has no room for the file. Leave it to the browser, by the link below.",
    working: "Working…",
    tryAgain: "Try again",
    newer: "Newer",
    older: "Older",
    pagination: "Pages",
    secretStoredConfirmation: "I have stored it",
    secretShownOnce: "It is shown this once and never again.",
    noWallet: "There is no Ethereum wallet in this browser.",
    walletRefused: "The wallet did not sign.",
    passkeyExists: "This device has a passkey here already.",
    noPasskey: "No passkey answered.",
    presenceDeclined: "Nothing was changed.",
    secretLost:
      "The try before made it, but its answer was lost, and the secret with it. It is in the list: take it away there, then make it anew.",
    unreachable:
      "The server cannot be reached. Nothing was lost here: try again when you are online.",
    rateLimited: (seconds: number | undefined) =>
      seconds === undefined
        ? "Too many requests. Please wait a moment, then try again."
        : `Too many requests. Please try again in ${seconds} s.`,
    serverError: "Something failed on the server's side. Please try again in a moment.",
    requestFailed: "This did not succeed.",
    notFound: "There is nothing at this address, or it belongs to another account.",
    accountSuspended: "Your account is suspended. Ask your operator.",
  },
  de: {
    copy: "Kopieren",
    copied: "Kopiert",
    cancel: "Abbrechen",
    close: "Schließen",
    viewErrorTitle: "Diese Ansicht ist gescheitert",
    viewErrorText:
      "Es wurde nichts geändert. Laden Sie die Seite neu; scheitert sie wieder, wenden Sie sich an Ihren Betreiber.",
    reload: "Seite neu laden",
    notFoundTitle: "Hier ist nichts",
    loading: "Wird geladen…",
    downloading: "Wird heruntergeladen…",
    stop: "Anhalten",
    stopped: "Angehalten. Nichts wurde gespeichert.",
    downloadComplete: (rows: string) => `Die Datei ist vollständig. Zeilen: ${rows}.`,
    saveAgain: "Datei noch einmal speichern",
    rowCount: (rows: string) => `Zeilen bis jetzt: ${rows}`,
    rowProgress: (rows: string, total: string) => `Zeilen: ${rows} von ${total}`,
    downloadInBrowser: "Sehr groß? Dem Browser überlassen, der gleich beim Laden speichert",
    downloadTruncated:
      "Die Datei brach vor ihrem Ende ab, darum wurde nichts gespeichert. Bitte versuchen Sie es noch einmal.",
    insufficientStorage:
      "Dieser Browser hat keinen Platz für die Datei. Überlassen Sie sie ihm durch den Link darunter.",
    working: "Einen Moment…",
    tryAgain: "Noch einmal versuchen",
    newer: "Neuere",
    older: "Ältere",
    pagination: "Seiten",
    secretStoredConfirmation: "Ich habe es aufbewahrt",
    secretShownOnce: "Es wird nur dieses eine Mal gezeigt.",
    noWallet: "In diesem Browser gibt es keine Ethereum-Wallet.",
    walletRefused: "Die Wallet hat nicht unterschrieben.",
    passkeyExists: "Dieses Gerät hat hier schon einen Passkey.",
    noPasskey: "Kein Passkey hat geantwortet.",
    presenceDeclined: "Es wurde nichts geändert.",
    secretLost:
      "Der vorige Versuch hat es angelegt, aber seine Antwort ging verloren und mit ihr das Geheimnis. Es steht in der Liste: Entfernen Sie es dort und legen Sie es neu an.",
    unreachable:
      "Der Server ist nicht erreichbar. Hier ging nichts verloren: Versuchen Sie es wieder, sobald Sie online sind.",
    rateLimited: (seconds: number | undefined) =>
      seconds === undefined
        ? "Zu viele Anfragen. Bitte warten Sie einen Moment und versuchen Sie es dann noch einmal."
        : `Zu viele Anfragen. Bitte versuchen Sie es in ${seconds} s noch einmal.`,
    serverError: "Auf dem Server ist etwas gescheitert. Bitte versuchen Sie es gleich noch einmal.",
    requestFailed: "Das hat nicht geklappt.",
    notFound: "Unter dieser Adresse ist nichts, oder es gehört zu einem anderen Konto.",
    accountSuspended: "Ihr Konto ist gesperrt. Fragen Sie Ihren Betreiber.",
  },
});
