import { pickTranslation } from "../../ui/language.ts";

/** The texts of the developers view. */
export const texts = pickTranslation({
  en: {
    title: "Developers",
    docs: "Documentation",
    docsText: "Quickstart, orders and refunds, webhooks, errors and going live.",
    apiReference: "API reference",
    apiReferenceText: "All calls, fields and errors, with examples.",
    keys: "API keys",
    keysText: "Create and rotate the keys that your software uses.",
    webhooks: "Webhooks",
    webhooksText: "Receive an event for each payment, and see past deliveries.",
    createLink: "Create a payment link",
    createLinkText: "Store an API key in the environment variable API_KEY, then run this code.",
    createLinkTextTest:
      "Store a test key in the environment variable API_KEY, then run this code. It creates a test link.",
    baseUrl: "Base URL",
    copyBaseUrl: "Copy base URL",
    language: "Language",
    copyCode: "Copy code",
    verifySignatures: "Verify signatures",
    verifySignaturesText:
      "Each webhook is signed with the endpoint's secret. Copy this code; it has no dependencies.",
    checkTitle: "Check a signature",
    checkText: "Paste a webhook that your server received. The data isn't sent or stored.",
    checkSignature: "Check signature",
    secret: "Secret",
    header: (header: string) => `Header ${header}`,
    body: "Raw body",
    isGenuine: "The signature is valid.",
    isWrong: "The signature doesn't match this secret, timestamp and body.",
    isStale: "The signature is valid but more than five minutes old. Reject it.",
  },
  de: {
    title: "Entwickler",
    docs: "Dokumentation",
    docsText: "Schnellstart, Bestellungen, Webhooks, Fehler und Live-Betrieb (englisch).",
    apiReference: "API-Referenz",
    apiReferenceText: "Alle Aufrufe, Felder und Fehler mit Beispielen (englisch).",
    keys: "API-Schlüssel",
    keysText: "Schlüssel für Ihre Software erstellen und ersetzen.",
    webhooks: "Webhooks",
    webhooksText: "Ein Ereignis zu jeder Zahlung erhalten und frühere Zustellungen ansehen.",
    createLink: "Zahlungslink erstellen",
    createLinkText:
      "Speichern Sie einen API-Schlüssel in der Umgebungsvariablen API_KEY und führen Sie diesen Code aus.",
    createLinkTextTest:
      "Speichern Sie einen Testschlüssel in der Umgebungsvariablen API_KEY und führen Sie diesen Code aus. Er erstellt einen Testlink.",
    baseUrl: "Basis-URL",
    copyBaseUrl: "Basis-URL kopieren",
    language: "Sprache",
    copyCode: "Code kopieren",
    verifySignatures: "Signaturen prüfen",
    verifySignaturesText:
      "Jeder Webhook ist mit dem Geheimnis des Endpunkts signiert. Kopieren Sie diesen Code; er hat keine Abhängigkeiten.",
    checkTitle: "Eine Signatur prüfen",
    checkText:
      "Fügen Sie einen Webhook ein, den Ihr Server erhalten hat. Nichts verlässt diese Seite oder wird gespeichert.",
    checkSignature: "Signatur prüfen",
    secret: "Geheimnis",
    header: (header: string) => `Header ${header}`,
    body: "Unveränderter Body",
    isGenuine: "Die Signatur ist gültig.",
    isWrong: "Die Signatur passt nicht zu diesem Geheimnis, Zeitstempel und Body.",
    isStale: "Die Signatur ist gültig, aber älter als fünf Minuten. Lehnen Sie sie ab.",
  },
});
