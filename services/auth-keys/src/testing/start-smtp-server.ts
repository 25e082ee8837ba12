import { SMTPServer, type SMTPServerOptions } from "smtp-server";
import { listenOnFreePort } from "@payment-links/runtime/testing/free-port";
import type { EmailConfig } from "../domain/email-config.ts";

/** An email that the server accepted. */
export type ReceivedEmail = {
  from: string;
  to: readonly string[];
  isSecure: boolean;
  user: string | undefined;
  /** The whole message with its transfer encoding removed. */
  message: string;
  /** The headers, with folded lines joined. */
  headers: ReadonlyMap<string, string>;
};

export const smtpUser = "mailer";
export const smtpPassword = "a password of the test";

type Reply = { code: number; text: string };

/** Starts an SMTP server on loopback that stores what it receives. */
export const startSmtpServer = async (options: SMTPServerOptions = {}) => {
  const emails: ReceivedEmail[] = [];
  /** If set, the server rejects each recipient with this reply. */
  const rejection: { reply: Reply | undefined } = { reply: undefined };
  /** If set, the replies to recipients wait for it. */
  let hold: Promise<void> | undefined;
  let heldCount = 0;
  const server = new SMTPServer({
    authOptional: true,
    hideSTARTTLS: true,
    closeTimeout: 100,
    onAuth: ({ username, password }, _session, callback) =>
      username === smtpUser && password === smtpPassword
        ? callback(null, { user: username })
        : callback(createReplyError({ code: 535, text: `wrong password for ${username}` })),
    onRcptTo: async (_address, _session, callback) => {
      heldCount += 1;
      await hold;
      heldCount -= 1;
      callback(rejection.reply === undefined ? null : createReplyError(rejection.reply));
    },
    onData: (stream, { envelope, secure, user }, callback) => {
      const chunks: Buffer[] = [];
      stream.on("data", (chunk: Buffer) => chunks.push(chunk));
      stream.on("end", () => {
        const source = Buffer.concat(chunks).toString("latin1");
        const from = envelope.mailFrom === false ? "" : envelope.mailFrom.address;
        const to = envelope.rcptTo.map(({ address }) => address);
        const message = decodeQuotedPrintable(source);
        emails.push({ from, to, isSecure: secure, user, message, headers: parseHeaders(source) });
        callback();
      });
    },
    ...options,
  });
  // Clients that do not trust the certificate cause errors, which the tests expect.
  server.on("error", () => {});
  const port = await listenOnFreePort(server.server);
  return {
    emails,
    rejection,
    heldCount: () => heldCount,
    /** Lets clients wait for the reply to their recipient until the returned function is called. */
    holdRecipients: (): (() => void) => {
      const { promise, resolve } = Promise.withResolvers<void>();
      hold = promise;
      return () => {
        hold = undefined;
        resolve();
      };
    },
    port,
    /** The settings for a client, without authentication and TLS. */
    config: {
      server: { host: "127.0.0.1", port, isSecure: false, requiresTls: false, auth: undefined },
      from: { name: "Example Shop", address: "no-reply@shop.example" },
    } satisfies EmailConfig,
    close: () => new Promise<void>((resolve) => server.close(resolve)),
  };
};
export type SmtpRig = Awaited<ReturnType<typeof startSmtpServer>>;

const createReplyError = ({ code, text: message }: Reply): Error =>
  Object.assign(new Error(message), { responseCode: code });

const decodeQuotedPrintable = (source: string): string =>
  Buffer.from(
    source
      .replaceAll("=\r\n", "")
      .replaceAll(/=([0-9A-F]{2})/g, (_, hex: string) =>
        String.fromCharCode(Number.parseInt(hex, 16)),
      ),
    "latin1",
  ).toString("utf8");

const parseHeaders = (source: string): ReadonlyMap<string, string> => {
  const [head = ""] = source.split("\r\n\r\n", 1);
  const lines = head.replaceAll(/\r\n[ \t]+/g, " ").split("\r\n");
  return new Map(
    lines.map((line) => {
      const [name = "", ...value] = line.split(":");
      return [name.toLowerCase(), value.join(":").trim()];
    }),
  );
};

/** Returns the path of an email's unsubscribe link, or an empty text if it has none. */
export const findUnsubscribePath = ({ headers }: ReceivedEmail): string =>
  /^<https?:\/\/[^/]+(\/[^>]+)>$/.exec(headers.get("list-unsubscribe") ?? "")?.[1] ?? "";

/** Returns the token in the confirmation link of an email. */
export const findConfirmationToken = ({ message }: ReceivedEmail): string =>
  /#confirm=([\w-]+)/.exec(message)?.[1] ?? "";
