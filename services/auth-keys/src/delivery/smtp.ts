import { connect } from "node:net";
import { type SMTPTransportOptions, createTransport } from "nodemailer";
import type { EmailConfig } from "../domain/email-config.ts";
import { SmtpError } from "../domain/smtp-error.ts";

/** An email to one recipient. */
type OutgoingEmail = {
  /** Identifies the email. It is the same at every attempt. */
  id: string;
  to: string;
  subject: string;
  text: string;
  html: string;
  /** The link with which the recipient unsubscribes, if there is anything to unsubscribe from. */
  unsubscribeUrl: string | undefined;
};

/** Sends an email. Throws an `SmtpError` if the server did not accept it. */
export type SendEmail = (email: OutgoingEmail) => Promise<void>;

/** The time for the whole attempt, including DNS, TLS and the message. */
const smtpTimeoutMs = 15_000;

type SenderOptions = EmailConfig & {
  /** An additional certificate authority that is trusted, for tests. */
  ca?: string;
  timeoutMs?: number;
};

/** Creates the function that sends emails, each over its own connection. */
export const createEmailSender = ({
  server: { host, port, auth, isSecure, requiresTls },
  from,
  ca,
  timeoutMs = smtpTimeoutMs,
}: SenderOptions): SendEmail => {
  const transportOptions: SMTPTransportOptions = {
    host,
    port,
    auth,
    secure: isSecure,
    requireTLS: requiresTls,
    tls: ca === undefined ? {} : { ca },
    getSocket: createGetSocket({ host, port, timeoutMs }),
    disableFileAccess: true,
    disableUrlAccess: true,
  };
  const transport = createTransport(transportOptions);
  const domain = from.address.slice(from.address.lastIndexOf("@") + 1);
  return async ({ id, unsubscribeUrl, ...content }) => {
    try {
      await transport.sendMail({
        ...content,
        from,
        messageId: `<${id}@${domain}>`,
        headers: {
          "Auto-Submitted": "auto-generated",
          ...(unsubscribeUrl === undefined ? {} : oneClickHeaders(unsubscribeUrl)),
        },
      });
    } catch (error) {
      throw new SmtpError(error);
    }
  };
};

/** The headers with which a mail program unsubscribes by one POST request (RFC 8058). */
const oneClickHeaders = (url: string) => ({
  "List-Unsubscribe": `<${url}>`,
  "List-Unsubscribe-Post": "List-Unsubscribe=One-Click",
});

/**
 * Opens the connection with one deadline for everything that follows on it. The timeouts of the
 * library restart with each byte.
 */
const createGetSocket =
  ({
    host,
    port,
    timeoutMs,
  }: {
    host: string;
    port: number;
    timeoutMs: number;
  }): SMTPTransportOptions["getSocket"] =>
  (_options, callback) => {
    const socket = connect({ host, port, signal: AbortSignal.timeout(timeoutMs) });
    socket.once("error", callback);
    socket.once("connect", () => {
      socket.off("error", callback);
      callback(null, { connection: socket });
    });
  };
