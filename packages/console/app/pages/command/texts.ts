import { pickTranslation } from "../../ui/language.ts";

/** The texts of the view that signs in the command line. */
export const texts = pickTranslation({
  en: {
    title: "Sign in a device",
    intro: "Enter the code that this command shows on your device:",
    code: "Code",
    codeHint: "8 letters, such as WDJB-MJHT.",
    continue: "Continue",
    notFound: "The code is unknown or has expired. Run the command again to get a new one.",
    question: (name: string) => `Sign in ${name}?`,
    warning:
      "Only allow this if you started it yourself, just now. Deny it if someone else sent you the code.",
    device: "Device",
    address: "IP address",
    unknown: "Unknown",
    started: "Started",
    mode: "Mode",
    modes: { live: "Live", test: "Test mode" },
    keyNote: (name: string) => `The device gets an API key with the name ${name}.`,
    allow: "Allow",
    deny: "Deny",
    allowed: "The device is signed in. You can close this page.",
    denied: "The sign-in was denied. The device got no API key.",
    viewKeys: "View API keys",
  },
  de: {
    title: "Gerät anmelden",
    intro: "Geben Sie den Code ein, den dieser Befehl auf Ihrem Gerät anzeigt:",
    code: "Code",
    codeHint: "8 Buchstaben, zum Beispiel WDJB-MJHT.",
    continue: "Weiter",
    notFound:
      "Der Code ist unbekannt oder abgelaufen. Führen Sie den Befehl noch einmal aus, um einen neuen zu erhalten.",
    question: (name: string) => `${name} anmelden?`,
    warning:
      "Erlauben Sie das nur, wenn Sie es gerade selbst gestartet haben. Lehnen Sie es ab, wenn Ihnen jemand den Code geschickt hat.",
    device: "Gerät",
    address: "IP-Adresse",
    unknown: "Unbekannt",
    started: "Gestartet",
    mode: "Modus",
    modes: { live: "Live", test: "Testmodus" },
    keyNote: (name: string) => `Das Gerät erhält einen API-Schlüssel mit dem Namen ${name}.`,
    allow: "Erlauben",
    deny: "Ablehnen",
    allowed: "Das Gerät ist angemeldet. Sie können diese Seite schließen.",
    denied: "Die Anmeldung wurde abgelehnt. Das Gerät hat keinen API-Schlüssel erhalten.",
    viewKeys: "API-Schlüssel anzeigen",
  },
});
