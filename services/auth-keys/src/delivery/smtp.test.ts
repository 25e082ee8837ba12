import { createServer } from "node:net";
import { describe, expect, test } from "@jest/globals";
import { listenOnFreePort } from "@payment-links/runtime/testing/free-port";
import { provokedTimeoutMs } from "@payment-links/runtime/testing/time-limits";
import { closeAfterEach } from "@payment-links/runtime/testing/use-rig";
import { SmtpError } from "../domain/smtp-error.ts";
import { smtpCertificate } from "../testing/smtp-certificate.ts";
import { smtpPassword, smtpUser, startSmtpServer } from "../testing/start-smtp-server.ts";
import { createEmailSender } from "./smtp.ts";

const closeAfterTest = closeAfterEach();
const start = async (...options: Parameters<typeof startSmtpServer>) =>
  closeAfterTest(await startSmtpServer(...options));

const email = {
  id: "evt_1",
  to: "owner@example.com",
  subject: "Payment received",
  text: "You received 25 USDC.",
  html: "<p>You received 25 USDC.</p>",
  unsubscribeUrl: `https://pay.example.com/console/api/unsubscribe/${"a".repeat(43)}`,
};
const { cert, key } = smtpCertificate;
const auth = { user: smtpUser, pass: smtpPassword };

describe("an email", () => {
  test("arrives with a stable Message-ID, both forms of the text and an unsubscribe link (rules MAIL-4 and MAIL-7)", async () => {
    const server = await start();
    const send = createEmailSender(server.config);
    await send(email);
    await send(email);
    const [first, second] = server.emails;
    expect(first).toMatchObject({ from: "no-reply@shop.example", to: ["owner@example.com"] });
    expect(first?.message).toContain("You received 25 USDC.");
    expect(first?.message).toContain("<p>You received 25 USDC.</p>");
    expect(first?.headers.get("from")).toBe("Example Shop <no-reply@shop.example>");
    expect(first?.headers.get("message-id")).toBe("<evt_1@shop.example>");
    expect(second?.headers.get("message-id")).toBe("<evt_1@shop.example>");
    expect(first?.headers.get("list-unsubscribe")).toBe(`<${email.unsubscribeUrl}>`);
    expect(first?.headers.get("list-unsubscribe-post")).toBe("List-Unsubscribe=One-Click");
    expect(first?.headers.get("auto-submitted")).toBe("auto-generated");
  });

  test("cannot get another header or recipient from its texts (rule MAIL-6)", async () => {
    const server = await start();
    const hostileText = "x\r\nBcc: victim@example.com\r\nX-Evil: 1\r\n\r\nbody";
    await createEmailSender(server.config)({ ...email, subject: hostileText, id: "evt_2" });
    const [received] = server.emails;
    expect(received?.to).toEqual(["owner@example.com"]);
    expect(received?.headers.has("bcc")).toBe(false);
    expect(received?.headers.has("x-evil")).toBe(false);
  });
});

describe("the connection", () => {
  test("is upgraded to TLS before the credentials are sent (rule MAIL-6)", async () => {
    const server = await start({ hideSTARTTLS: false, key, cert, authOptional: false });
    const target = { ...server.config.server, host: "localhost", requiresTls: true, auth };
    await createEmailSender({ ...server.config, server: target, ca: cert })(email);
    expect(server.emails).toMatchObject([{ isSecure: true, user: smtpUser }]);
  });

  test("uses TLS from the start with smtps (rule MAIL-6)", async () => {
    const server = await start({ secure: true, key, cert, authOptional: false });
    const target = { ...server.config.server, host: "localhost", isSecure: true, auth };
    await createEmailSender({ ...server.config, server: target, ca: cert })(email);
    expect(server.emails).toMatchObject([{ isSecure: true, user: smtpUser }]);
  });

  test.each([
    ["does not offer STARTTLS", {}, cert],
    ["has a certificate that is not trusted", { hideSTARTTLS: false, key, cert }, undefined],
  ])("sends nothing if the server %s (rule MAIL-6)", async (_name, options, ca) => {
    const server = await start(options);
    const target = { ...server.config.server, host: "localhost", requiresTls: true, auth };
    const send = createEmailSender({
      ...server.config,
      server: target,
      ...(ca === undefined ? {} : { ca }),
    });
    await expect(send(email)).rejects.toBeInstanceOf(SmtpError);
    expect(server.emails).toEqual([]);
  });

  test("does not reveal the credentials or the recipient in an error (rule MAIL-6)", async () => {
    const server = await start({ authOptional: false, allowInsecureAuth: true });
    const wrongAuth = { user: smtpUser, pass: "a wrong password" };
    const target = { ...server.config.server, auth: wrongAuth };
    const attempt = createEmailSender({ ...server.config, server: target })(email);
    const error = await attempt.catch((thrown: unknown) => thrown);
    expect(error).toMatchObject({ message: expect.stringContaining("535"), isPermanent: false });
    expect(JSON.stringify([String(error), error])).not.toMatch(/wrong password|mailer|owner@/);
  });

  test("reports a permanently rejected recipient as permanent, and a temporary one not", async () => {
    const server = await start();
    const send = createEmailSender(server.config);
    server.rejection.reply = { code: 550, text: "no such mailbox" };
    await expect(send(email)).rejects.toMatchObject({ isPermanent: true });
    server.rejection.reply = { code: 451, text: "try again later" };
    await expect(send(email)).rejects.toMatchObject({ isPermanent: false });
  });

  test("ends at its deadline even if the server sends a byte now and then (rule MAIL-4)", async () => {
    const timers: NodeJS.Timeout[] = [];
    const server = createServer((socket) => {
      socket.on("error", () => {});
      timers.push(setInterval(() => socket.write("220-wait\r\n"), 50));
    });
    const port = await listenOnFreePort(server);
    closeAfterTest({
      close: () => {
        for (const timer of timers) clearInterval(timer);
        server.close();
      },
    });
    const target = {
      host: "127.0.0.1",
      port,
      isSecure: false,
      requiresTls: false,
      auth: undefined,
    };
    const from = { name: "", address: "no-reply@shop.example" };
    const send = createEmailSender({ server: target, from, timeoutMs: provokedTimeoutMs(500) });
    await expect(send(email)).rejects.toThrow();
  });
});
