/** Each view of an empty account in German, and what it shows. */
export const germanViews: [string, string][] = [
  ["", "Einrichten"],
  ["/links", "Wählen Sie zuerst einen Handle und eine Standard-Wallet"],
  ["/keys", "Noch keine Schlüssel."],
  ["/webhooks", "Noch keine Endpunkte."],
  ["/account/profile", "Was Zahlende sehen"],
  ["/account/wallets", "Noch keine Wallets."],
  ["/account/sign-in", "Noch nichts."],
  ["/account/sessions", "Wo Sie angemeldet sind"],
  ["/account/log", "Anmeldelink ausgestellt"],
];
