/** The texts of errors that every page can have. */
export const pageErrorTexts = {
  PAYLOAD_TOO_LARGE: "The request is larger than 64 KiB.",
  "429": "Too many requests. Wait a moment and try again.",
  INTERNAL_ERROR: "Something went wrong on our side. Try again in a moment.",
  SERVICE_UNAVAILABLE: "The service is not available. Try again in a moment.",
} as const;

/** The same texts in German. */
export const pageErrorTextsGerman = {
  PAYLOAD_TOO_LARGE: "Die Anfrage ist größer als 64 KiB.",
  "429": "Zu viele Anfragen. Warten Sie einen Moment und versuchen Sie es erneut.",
  INTERNAL_ERROR: "Bei uns ist etwas schiefgelaufen. Versuchen Sie es gleich noch einmal.",
  SERVICE_UNAVAILABLE: "Der Dienst ist nicht verfügbar. Versuchen Sie es gleich noch einmal.",
};
