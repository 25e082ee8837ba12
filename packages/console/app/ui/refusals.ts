import { choose } from "./language.ts";

/** What the service says of a refusal in English, in other languages, by its code. */
export const refusals: Readonly<Record<string, string>> = choose({
  en: {},
  de: {
    UNAUTHENTICATED: "Melden Sie sich an.",
    REAUTHENTICATION_REQUIRED: "Weisen Sie sich noch einmal aus und versuchen Sie es dann wieder.",
    REAUTHENTICATION_MISMATCH: "Das weist jemand anderen aus als den, der angemeldet ist.",
    INVALID_SIGN_IN_TOKEN: "Der Anmeldelink gilt nicht oder wurde schon benutzt.",
    INVALID_SIWE_MESSAGE:
      "Die Nachricht zur Anmeldung oder ihre Unterschrift gilt nicht oder nicht mehr.",
    INVALID_PASSKEY: "Die Antwort des Passkeys gilt nicht oder nicht mehr.",
    SIGN_UP_CLOSED: "Zu dieser Anmeldung gibt es kein Konto, und hier wird keines eröffnet.",
    SIGN_IN_METHOD_UNAVAILABLE: "Diesen Weg zur Anmeldung gibt es hier nicht.",
    PAYMENT_LINK_ACCOUNT_NOT_READY:
      "Das Konto braucht zuerst einen Handle und eine Standard-Wallet.",
    PAYMENT_LINK_NOT_ACTIVE: "Der Zahlungslink ist nicht offen.",
    IDEMPOTENCY_KEY_IN_USE: "Der erste Versuch läuft noch.",
    HANDLE_TAKEN: "Der Handle gehört zu einem anderen Konto.",
    HANDLE_LIMIT: "Das Konto hatte so viele Handles, wie es haben darf.",
    WALLET_EXISTS: "Das Konto hat diese Wallet mit diesem Token schon.",
    WALLET_LIMIT: "Das Konto hat so viele Wallets, wie es haben darf.",
    API_KEY_LIMIT: "Das Konto hat so viele API-Schlüssel, wie es haben darf.",
    API_KEY_NOT_ACTIVE: "Der API-Schlüssel ist abgeschaltet oder abgelaufen.",
    API_KEY_REPLACED: "Ein anderer API-Schlüssel ist schon an seine Stelle getreten.",
    IDENTITY_TAKEN: "Diese Identität meldet in einem anderen Konto an.",
    IDENTITY_LIMIT: "Das Konto hat so viele Identitäten, wie es haben darf.",
    PASSKEY_EXISTS: "Dieser Passkey ist schon bekannt.",
    PASSKEY_LIMIT: "Das Konto hat so viele Passkeys, wie es haben darf.",
    LAST_WAY_IN: "Das ist der letzte Weg in dieses Konto: Fügen Sie erst einen anderen hinzu.",
    WEBHOOK_ENDPOINT_LIMIT: "Das Konto hat schon fünf Webhook-Endpunkte.",
    AUDIT_LOG_TOO_LONG: "Das sind mehr als 100.000 Einträge: Grenzen Sie sie nach der Zeit ein.",
    INVALID_PAYMENT_LINK_AMOUNT: "Der Betrag hat mehr Nachkommastellen, als der Token erlaubt.",
    INVALID_HANDLE:
      "Ein Handle ist 3 bis 30 Zeichen aus a-z, 0-9 und _ und kein reserviertes Wort.",
    INVALID_WALLET_ADDRESS: "Die Adresse ist keine gültige der Chain des Tokens.",
    INVALID_WEBHOOK_URL: "Die URL muss eine öffentliche https-Adresse ohne Port sein.",
  },
});
