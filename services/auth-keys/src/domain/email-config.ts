import type { EmailSender } from "@payment-links/contracts";

/** The SMTP server, and how to connect to it. */
export type SmtpServer = {
  host: string;
  port: number;
  /** Whether the connection uses TLS from the start. */
  isSecure: boolean;
  /** Whether a server without STARTTLS is an error. */
  requiresTls: boolean;
  auth: { user: string; pass: string } | undefined;
};

/** The server that sends emails, and their sender. */
export type EmailConfig = { server: SmtpServer; from: EmailSender };

const loopbackHosts = new Set(["localhost", "127.0.0.1", "[::1]"]);
const defaultPorts: Readonly<Record<string, number>> = { "smtp:": 587, "smtps:": 465 };

/**
 * Parses `SMTP_URL`. Without `smtps`, the connection must be upgraded with STARTTLS, except to this
 * machine. Returns undefined if the text is not valid.
 */
export const parseSmtpUrl = (text: string): SmtpServer | undefined => {
  if (!URL.canParse(text)) return undefined;
  const { hash, hostname, password, pathname, port, protocol, search, username } = new URL(text);
  const defaultPort = defaultPorts[protocol];
  const user = decode(username);
  const pass = decode(password);
  if (defaultPort === undefined || hostname === "" || user === undefined || pass === undefined) {
    return undefined;
  }
  if ((pathname !== "" && pathname !== "/") || search !== "" || hash !== "") return undefined;
  return {
    host: hostname.replace(/^\[(.*)\]$/, "$1"),
    port: port === "" ? defaultPort : Number(port),
    isSecure: protocol === "smtps:",
    requiresTls: !loopbackHosts.has(hostname),
    auth: user === "" ? undefined : { user, pass },
  };
};

const decode = (text: string): string | undefined => {
  try {
    return decodeURIComponent(text);
  } catch {
    return undefined;
  }
};
