import { expect, test } from "@jest/globals";
import { parseSmtpUrl } from "./email-config.ts";

test("a server needs TLS unless it is on this machine (rule MAIL-6)", () => {
  expect(parseSmtpUrl("smtp://mailer:p%40ss@mail.example.com")).toEqual({
    host: "mail.example.com",
    port: 587,
    isSecure: false,
    requiresTls: true,
    auth: { user: "mailer", pass: "p@ss" },
  });
  expect(parseSmtpUrl("smtps://mail.example.com:2465/")).toEqual({
    host: "mail.example.com",
    port: 2465,
    isSecure: true,
    requiresTls: true,
    auth: undefined,
  });
  expect(parseSmtpUrl("smtp://127.0.0.1:1025")).toMatchObject({ port: 1025, requiresTls: false });
  expect(parseSmtpUrl("smtp://[::1]:1025")).toMatchObject({ host: "::1", requiresTls: false });
  expect(parseSmtpUrl("smtp://127.0.0.1.example.com")).toMatchObject({ requiresTls: true });
});

test.each([
  "mail.example.com",
  "http://mail.example.com",
  "smtp://",
  "smtp://mail.example.com/path",
  "smtp://mail.example.com?tls.rejectUnauthorized=false",
  "smtp://mail.example.com#x",
  "smtp://user:%zz@mail.example.com",
])("%s is not accepted", (url) => {
  expect(parseSmtpUrl(url)).toBeUndefined();
});
