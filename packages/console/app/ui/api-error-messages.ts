import type { ApiErrorCode, ValidationCode } from "../api/operations.ts";
import { pickTranslation } from "./language.ts";

type EnglishMessages = Readonly<Record<ValidationCode, string>>;
/** The service's messages are in English, so most error codes need no English text here. */
type TranslatedMessages = EnglishMessages & Readonly<Record<ApiErrorCode, string>>;

const en: EnglishMessages = {
  missing: "Fill in all required fields.",
  json_invalid: "The request could not be read. Reload the page and try again.",
  model_attributes_type: "The request has an invalid format. Reload the page and try again.",
  decimal_type: "Enter a number.",
  decimal_parsing: "Enter a number.",
  decimal_max_digits: "The number has too many digits.",
  decimal_max_places: "The number has more decimals than the token allows.",
  finite_number: "Enter a finite number.",
  greater_than: "Enter a number above 0.",
  greater_than_equal: "The number is too small.",
  less_than_equal: "The number is too large.",
  string_type: "Enter text.",
  string_too_long: "The text is too long.",
  string_too_short: "The text is too short.",
  string_pattern_mismatch: "The text has an invalid format.",
  int_type: "Enter a whole number.",
  int_parsing: "Enter a whole number.",
  int_from_float: "Enter a whole number.",
  bool_type: "Choose yes or no.",
  list_type: "Enter a list.",
  too_long: "The list is too long.",
  too_short: "The list is too short.",
  datetime_type: "Enter a date and time.",
  datetime_from_date_parsing: "Enter a valid date and time.",
  datetime_future: "Enter a date in the future.",
  enum: "Choose one of the available options.",
  url_parsing: "Enter a full URL that starts with http:// or https://.",
  url_scheme: "Enter a URL that starts with https://.",
  no_update: "This can't be changed.",
};

const de: TranslatedMessages = {
  missing: "Füllen Sie alle Pflichtfelder aus.",
  json_invalid:
    "Die Anfrage ist nicht lesbar. Laden Sie die Seite neu und versuchen Sie es erneut.",
  model_attributes_type:
    "Die Anfrage hat ein ungültiges Format. Laden Sie die Seite neu und versuchen Sie es erneut.",
  decimal_type: "Geben Sie eine Zahl ein.",
  decimal_parsing: "Geben Sie eine Zahl ein.",
  decimal_max_digits: "Die Zahl hat zu viele Stellen.",
  decimal_max_places: "Die Zahl hat mehr Nachkommastellen, als der Token erlaubt.",
  finite_number: "Geben Sie eine endliche Zahl ein.",
  greater_than: "Geben Sie eine Zahl über 0 ein.",
  greater_than_equal: "Die Zahl ist zu klein.",
  less_than_equal: "Die Zahl ist zu groß.",
  string_type: "Geben Sie einen Text ein.",
  string_too_long: "Der Text ist zu lang.",
  string_too_short: "Der Text ist zu kurz.",
  string_pattern_mismatch: "Der Text hat ein ungültiges Format.",
  int_type: "Geben Sie eine ganze Zahl ein.",
  int_parsing: "Geben Sie eine ganze Zahl ein.",
  int_from_float: "Geben Sie eine ganze Zahl ein.",
  bool_type: "Wählen Sie Ja oder Nein.",
  list_type: "Geben Sie eine Liste ein.",
  too_long: "Die Liste ist zu lang.",
  too_short: "Die Liste ist zu kurz.",
  datetime_type: "Geben Sie Datum und Uhrzeit ein.",
  datetime_from_date_parsing: "Geben Sie ein gültiges Datum mit Uhrzeit ein.",
  datetime_future: "Geben Sie ein Datum in der Zukunft ein.",
  enum: "Wählen Sie eine der verfügbaren Optionen.",
  url_parsing: "Geben Sie eine vollständige URL ein, die mit http:// oder https:// beginnt.",
  url_scheme: "Geben Sie eine URL ein, die mit https:// beginnt.",
  no_update: "Das lässt sich nicht ändern.",
  UNAUTHENTICATED: "Melden Sie sich an.",
  REAUTHENTICATION_REQUIRED: "Bestätigen Sie Ihre Identität und versuchen Sie es erneut.",
  REAUTHENTICATION_MISMATCH: "Diese Anmeldemethode gehört zu einem anderen Konto.",
  INVALID_SIGN_IN_TOKEN: "Der Anmeldelink ist ungültig oder wurde schon benutzt.",
  INVALID_SIWE_MESSAGE: "Die Anmeldenachricht oder ihre Signatur ist ungültig oder abgelaufen.",
  INVALID_PASSKEY: "Die Antwort des Passkeys ist ungültig oder abgelaufen.",
  SIGN_UP_CLOSED: "Zu dieser Anmeldung gibt es kein Konto. Die Registrierung ist geschlossen.",
  EMAIL_UNAVAILABLE: "Diese Installation versendet keine E-Mails.",
  INVALID_IMAGE: "Die Datei ist beschädigt oder kein PNG-, JPEG-, WebP- oder GIF-Bild.",
  IMAGE_TOO_MANY_PIXELS:
    "Das Bild hat mehr als 12 Millionen Pixel oder mehr als 16.383 auf einer Seite.",
  INVALID_CONFIRMATION_TOKEN: "Der Bestätigungslink ist ungültig oder abgelaufen.",
  SIGN_IN_METHOD_UNAVAILABLE: "Diese Anmeldemethode ist nicht verfügbar.",
  PAYMENT_LINK_ACCOUNT_NOT_READY: "Das Konto braucht zuerst einen Handle und eine Standard-Wallet.",
  TEST_MODE_UNAVAILABLE: "Diese Installation hat kein Testnetz und daher keinen Testmodus.",
  PAYMENT_SIMULATED: "Die Zahlung ist simuliert. Es gibt kein Geld, das erstattet werden kann.",
  PAYMENT_LINK_NOT_ACTIVE: "Der Zahlungslink ist nicht aktiv.",
  PAYMENT_SEEN: "Eine Zahlung wurde erkannt und wird bestätigt. Zahlen Sie nicht noch einmal.",
  PAYER_IS_OWNER: "Dieses Konto empfängt die Zahlung. Zahlen Sie von einem anderen Konto.",
  BALANCE_TOO_LOW: "Das Guthaben des Kontos ist kleiner als der Betrag.",
  DEPOSIT_ALREADY_ASSIGNED: "Der Zahlungseingang ist bereits einem Zahlungslink zugeordnet.",
  DEPOSIT_ALREADY_APPLIED: "Diese Zahlung ist bereits einem Zahlungslink gutgeschrieben.",
  DEPOSIT_NOT_SETTLED:
    "Der Zahlungseingang ist noch nicht endgültig. Versuchen Sie es später erneut.",
  DEPOSIT_ORPHANED:
    "Das Netzwerk hat den Zahlungseingang rückgängig gemacht. Das Geld ist nicht mehr da.",
  DEPOSIT_WRONG_TOKEN: "Der Zahlungslink verlangt einen anderen Token oder eine andere Chain.",
  DEPOSIT_WRONG_DESTINATION: "Der Zahlungslink hat eine andere Empfängeradresse.",
  IDEMPOTENCY_KEY_IN_USE: "Die erste Anfrage mit diesem Idempotenzschlüssel läuft noch.",
  HANDLE_TAKEN: "Der Handle gehört zu einem anderen Konto.",
  HANDLE_LIMIT: "Das Konto hat die Höchstzahl an Handles erreicht.",
  WALLET_EXISTS: "Das Konto hat diese Wallet mit diesem Token bereits.",
  WALLET_LIMIT: "Das Konto hat die Höchstzahl an Wallets erreicht.",
  API_KEY_LIMIT: "Das Konto hat die Höchstzahl an API-Schlüsseln erreicht.",
  API_KEY_NOT_ACTIVE: "Der API-Schlüssel ist deaktiviert oder abgelaufen.",
  API_KEY_REPLACED: "Der API-Schlüssel wurde bereits durch einen anderen ersetzt.",
  IDENTITY_TAKEN: "Diese Identität ist mit einem anderen Konto verknüpft.",
  IDENTITY_LIMIT: "Das Konto hat die Höchstzahl an Identitäten erreicht.",
  PASSKEY_EXISTS: "Dieser Passkey ist bereits registriert.",
  PASSKEY_LIMIT: "Das Konto hat die Höchstzahl an Passkeys erreicht.",
  LAST_WAY_IN: "Das ist die letzte Anmeldemethode des Kontos. Fügen Sie zuerst eine andere hinzu.",
  WEBHOOK_ENDPOINT_LIMIT:
    "Das Konto hat die Höchstzahl von 5 Webhook-Endpunkten in diesem Modus erreicht.",
  WEBHOOK_LISTENER_LIMIT:
    "Das Konto hat die Höchstzahl von 3 Webhook-Listenern in diesem Modus erreicht.",
  AUDIT_LOG_TOO_LONG:
    "Der Export hat mehr als 100.000 Einträge. Wählen Sie einen kürzeren Zeitraum.",
  INVALID_PAYMENT_LINK_AMOUNT: "Der Betrag hat mehr Nachkommastellen, als der Token erlaubt.",
  AMOUNT_NOT_PAYABLE: "Die Chain kann diesen Betrag nicht senden. Das Minimum ist 0,00000546 BTC.",
  INVALID_HANDLE: "Verwenden Sie 3 bis 30 Zeichen aus a-z, 0-9 und _ und kein reserviertes Wort.",
  INVALID_WALLET_ADDRESS: "Die Adresse ist auf der Chain des Tokens nicht gültig.",
  SOLANA_WALLET_REQUIRED:
    "Das ist ein Token-Konto oder ein Mint. Geben Sie die Adresse einer Wallet ein.",
  BITCOIN_KEY_REQUIRED:
    "Bitcoin braucht einen erweiterten öffentlichen Schlüssel, keine einzelne Adresse.",
  INVALID_TRANSACTION_ID: "Der Text ist keine Transaktions-ID dieser Chain.",
  PRIVATE_KEY_REFUSED:
    "Das ist vielleicht ein privater Schlüssel. Er wurde nicht gespeichert. Geben Sie ihn nie weiter.",
  INVALID_WEBHOOK_URL: "Die URL muss eine öffentliche https-Adresse ohne Port sein.",
  INVALID_API_KEY: "Der API-Schlüssel ist ungültig.",
  EXPIRED_API_KEY: "Der API-Schlüssel ist abgelaufen.",
  OIDC_SIGN_IN_REFUSED: "Die Anmeldung Ihrer Firma ist fehlgeschlagen. Versuchen Sie es erneut.",
  INVALID_SIGNATURE: "Die Signatur fehlt, ist zu alt oder ungültig.",
  INSUFFICIENT_API_SCOPE: "Dem API-Schlüssel fehlt die nötige Berechtigung.",
  TEST_KEY_REQUIRED: "Dafür braucht es einen Testschlüssel und einen Link im Testmodus.",
  API_KEY_ADDRESS_REFUSED: "Der API-Schlüssel darf von dieser IP-Adresse nicht benutzt werden.",
  CROSS_SITE_REQUEST: "Anfragen von einer anderen Website sind nicht erlaubt.",
  ACCOUNT_SUSPENDED: "Ihr Konto ist gesperrt. Wenden Sie sich an Ihren Betreiber.",
  FORBIDDEN: "Diese Anfrage ist nicht erlaubt.",
  CANNOT_FIND_PAYMENT_LINK: "Der Zahlungslink wurde nicht gefunden.",
  NOT_FOUND: "Die Ressource wurde nicht gefunden.",
  METHOD_NOT_ALLOWED: "Dieser Pfad unterstützt die HTTP-Methode nicht.",
  REQUEST_TIMEOUT: "Die Anfrage hat zu lange gedauert. Versuchen Sie es erneut.",
  PAYLOAD_TOO_LARGE: "Die Anfrage ist zu groß.",
  UNSUPPORTED_CONTENT_ENCODING: "Die Anfrage darf nicht komprimiert sein.",
  IDEMPOTENCY_KEY_INVALID: "Ein Idempotenzschlüssel hat 1 bis 255 druckbare ASCII-Zeichen.",
  IDEMPOTENCY_KEY_REUSED:
    "Dieser Idempotenzschlüssel wurde bereits für eine andere Anfrage benutzt.",
  "429": "Zu viele Anfragen. Warten Sie einen Moment und versuchen Sie es erneut.",
  REQUEST_HEADERS_TOO_LARGE: "URL und Header sind größer als 16 KiB.",
  BAD_REQUEST: "Die HTTP-Anfrage ist ungültig.",
  CANNOT_CREATE_PAYMENT_LINK:
    "Der Zahlungslink konnte nicht erstellt werden. Versuchen Sie es erneut.",
  INTERNAL_ERROR: "Bei uns ist etwas schiefgelaufen. Versuchen Sie es gleich noch einmal.",
  SIWE_CHAIN_UNAVAILABLE:
    "Die Chain der Wallet ist gerade nicht erreichbar. Versuchen Sie es später erneut.",
  OIDC_ISSUER_UNAVAILABLE:
    "Die Anmeldung Ihrer Firma antwortet nicht. Versuchen Sie es später erneut.",
  SERVICE_UNAVAILABLE:
    "Der Dienst ist gerade nicht verfügbar. Versuchen Sie es gleich noch einmal.",
};

/** The messages of codes that have several, by the service's message. */
const deByMessage: Readonly<Record<string, string>> = {
  "The URL must be absolute, must have at most 2048 characters and must not contain control characters.":
    "Geben Sie eine vollständige URL mit höchstens 2048 Zeichen und ohne Steuerzeichen ein.",
  "The URL must start with https://.": "Die URL muss mit https:// beginnen.",
  "The URL must not contain a user name or a password.":
    "Die URL darf weder Benutzernamen noch Passwort enthalten.",
  "The URL must not contain a port, not even 443.":
    "Die URL darf keinen Port enthalten, auch nicht 443.",
  "The URL must not contain a fragment (the part after #).":
    "Die URL darf kein Fragment enthalten (den Teil nach #).",
  "The host must be public: a public IP address, or a name that resolves only to public IP addresses.":
    "Der Host muss öffentlich sein: eine öffentliche IP-Adresse oder ein Name, der nur zu öffentlichen IP-Adressen führt.",
};

const messagesByText = pickTranslation<Readonly<Record<string, string>>>({
  en: {},
  de: deByMessage,
});
const messages = pickTranslation<Readonly<Record<string, string>>>({ en, de });

type Entry = { code: string; message: string };

/**
 * Returns the texts of the error codes. For a code without a text, returns the service's message.
 * Lists each text only once, for example when several entries of a list have the same problem.
 */
export const getApiErrorText = (entries: readonly Entry[]): string =>
  [
    ...new Set(
      entries.map(({ code, message }) => messagesByText[message] ?? messages[code] ?? message),
    ),
  ]
    .join(" ")
    .trim();
