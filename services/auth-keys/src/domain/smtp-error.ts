type LibraryError = { code?: string; command?: string; responseCode?: number };

/**
 * A failed attempt to send an email. The library's message is omitted, because it can contain the
 * recipient's address or the server's response to the credentials.
 */
export class SmtpError extends Error {
  /** Whether the server permanently rejected the recipient or the message. */
  readonly isPermanent: boolean;

  constructor(error: unknown) {
    const { code, command, responseCode = 0 } = (error ?? {}) as LibraryError;
    super([code ?? "unknown", command, responseCode].filter(Boolean).join(" "));
    this.name = "SmtpError";
    this.isPermanent = (command === "RCPT TO" || command === "DATA") && responseCode >= 500;
  }
}
