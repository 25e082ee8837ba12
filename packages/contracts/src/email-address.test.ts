import { expect, test } from "@jest/globals";
import { SmtpFrom, isEmailAddress } from "./email-address.ts";

test.each(["a@example.com", "first.last+tag@mail.example.co.uk", "o'neil@xn--bcher-kva.example"])(
  "%s is an email address",
  (address) => {
    expect(isEmailAddress(address)).toBe(true);
  },
);

test.each(["a", "a@b", "a@-b.com", ".a@b.com", "a..b@c.com", "a@b.com\n", "a b@c.com", "ä@b.com"])(
  "%j is not an email address",
  (address) => {
    expect(isEmailAddress(address)).toBe(false);
  },
);

test("a sender has an address and can have a name", () => {
  expect(SmtpFrom.parse("a@example.com")).toEqual({ name: "", address: "a@example.com" });
  expect(SmtpFrom.parse("Café Berlin <a@example.com>")).toEqual({
    name: "Café Berlin",
    address: "a@example.com",
  });
});

test.each([
  "Shop",
  "Shop <a>",
  "Shop\r\nBcc: b <a@example.com>",
  "<a@example.com>",
  "a, b <a@example.com>",
])("%j is not a sender", (text) => {
  expect(SmtpFrom.safeParse(text).success).toBe(false);
});
