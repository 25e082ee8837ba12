import { describe, expect, test } from "@jest/globals";
import { parseWebhookUrl } from "./webhook-url.ts";

const rules = {
  overriddenHosts: new Set(["receiver.test"]),
  ownHosts: new Set(["pay.shop.com"]),
};
const parse = (text: string): string => {
  const parsed = parseWebhookUrl(text, rules);
  return typeof parsed === "string" ? parsed : parsed.href;
};

const longUrl = (length: number): string => "https://shop.com/".padEnd(length, "a");

describe("parseWebhookUrl", () => {
  test.each([
    ["plain http", "http://shop.com/hook", "scheme"],
    ["ftp", "ftp://shop.com/hook", "scheme"],
    ["javascript", "javascript:alert(1)", "scheme"],
    ["no scheme", "shop.com/hook", "no_url"],
    ["an empty text", "", "no_url"],
    ["an empty host", "https://", "no_url"],
    ["credentials", "https://user:pass@shop.com/", "credentials"],
    ["a user without a password", "https://user@shop.com/", "credentials"],
    ["empty credentials", "https://@shop.com/", "credentials"],
    ["credentials that look like a host", "https://shop.com:x@evil.com/", "credentials"],
    ["a backslash before credentials", "https:\\\\user@shop.com/", "credentials"],
    ["credentials after a leading space", " https://user@shop.com/", "credentials"],
    ["credentials after an upper-case scheme", "HTTPS://user@shop.com/", "credentials"],
    ["port 443", "https://shop.com:443/hook", "port"],
    ["port 8443", "https://shop.com:8443/hook", "port"],
    ["port 0", "https://shop.com:0/", "port"],
    ["an empty port", "https://shop.com:/hook", "port"],
    ["port 443 without slashes", "https:shop.com:443/hook", "port"],
    ["port 443 after backslashes", "https:\\\\shop.com:443\\hook", "port"],
    ["port 443 after an IPv6 literal", "https://[2606:4700::1]:443/", "port"],
    ["port 443 without a path", "https://shop.com:443?x=1", "port"],
    ["a port over 65535", "https://shop.com:65536/", "no_url"],
    ["a fragment", "https://shop.com/#x", "fragment"],
    ["an empty fragment", "https://shop.com/#", "fragment"],
    ["a line break in the path", "https://shop.com/a\r\nb", "control_character"],
    ["a tab in the host", "https://sh\top.com/", "control_character"],
    ["NUL", "https://shop.com/\0", "control_character"],
    ["a C1 control", "https://shop.com/\u0085", "control_character"],
    ["an unpaired surrogate", "https://shop.com/\ud800", "control_character"],
    ["2049 code points", longUrl(2049), "too_long"],
    ["2049 code points that are shorter when stored", longUrl(2044) + "/../b", "too_long"],
    ["2048 code points that are longer when stored", `${longUrl(2047)}ü`, "too_long"],
    [
      "a short text that has 12,017 characters when stored",
      `https://shop.com/${"🦊".repeat(1000)}`,
      "too_long",
    ],
    ["localhost", "https://localhost/", "host_name"],
    ["localhost with a trailing dot", "https://localhost./", "host_name"],
    ["a subdomain of localhost", "https://a.localhost/", "host_name"],
    ["upper case", "https://LOCALHOST/", "host_name"],
    ["a single label", "https://intranet/", "host_name"],
    ["a cluster-internal service name", "https://links-api/", "host_name"],
    ["a cluster name", "https://links-api.default.svc.cluster.local/", "host_name"],
    ["a short cluster name", "https://links-api.default.svc/", "host_name"],
    [".internal", "https://metadata.google.internal/", "host_name"],
    [".internal with a trailing dot", "https://metadata.google.internal./", "host_name"],
    [".home.arpa", "https://nas.home.arpa/", "host_name"],
    ["the service's own host", "https://pay.shop.com/hook", "host_name"],
    ["the service's own host with a trailing dot", "https://PAY.shop.com./hook", "host_name"],
    ["the service's own host in full-width letters", "https://ｐａｙ.shop.com/hook", "host_name"],
    ["an empty label", "https://a..com/", "host_name"],
    ["a leading dot", "https://.shop.com/", "host_name"],
    ["two trailing dots", "https://shop.com../", "host_name"],
    ["a single dot", "https://./", "host_name"],
    ["a label of 64 characters", `https://${"a".repeat(64)}.com/`, "host_name"],
    ["a name of 254 characters", `https://${"a.".repeat(125)}info/`, "host_name"],
    ["punycode that does not decode", "https://xn--a-ecp.ru/", "host_name"],
    ["empty punycode", "https://xn--.com/", "host_name"],
    ["127.1", "https://127.1/", "address"],
    ["one decimal number", "https://2130706433/", "address"],
    ["hexadecimal", "https://0x7f.1/", "address"],
    ["octal", "https://0177.0.0.1/", "address"],
    ["long octal", "https://01200034567/", "address"],
    ["zero", "https://0/", "address"],
    ["three parts", "https://0.2.3/", "address"],
    ["a trailing dot", "https://127.0.0.1./", "address"],
    ["full-width digits", "https://１２７.０.０.１/", "address"],
    ["circled digits", "https://①②⑦.⓪.⓪.①/", "address"],
    ["ideographic dots", "https://127。0。0。1/", "address"],
    ["percent-encoded digits", "https://%31%32%37.0.0.1/", "address"],
    ["no slashes", "https:127.0.0.1", "address"],
    ["backslashes", "https:\\\\127.0.0.1\\", "address"],
    ["a metadata address", "https://169.254.169.254/latest/meta-data/", "address"],
    ["a private IPv6 literal", "https://[fd00:ec2::254]/", "address"],
    ["IPv6 loopback", "https://[::1]/", "address"],
    ["a mapped literal", "https://[::ffff:127.0.0.1]/", "address"],
    ["a zone id", "https://[fe80::1%25eth0]/", "no_url"],
    ["an over-long octet", "https://127.0.0.256/", "no_url"],
    ["a number as the last label", "https://shop.0x7f/", "no_url"],
    ["a full-width colon", "https://shop.com：443/", "no_url"],
    ["a percent-encoded colon", "https://shop.com%3A443/", "no_url"],
  ])("rejects %s (rules HOOK-2 and HOOK-3)", (_name, text, violation) => {
    expect(parse(text)).toBe(violation);
  });

  test.each(
    `localhost localdomain local internal intranet private corp home lan svc onion alt invalid test
     example arpa`.split(/\s+/),
  )("rejects subdomains of %s (rule HOOK-3)", (name) => {
    expect(parse(`https://shop.${name}/`)).toBe("host_name");
  });

  test.each([
    ["a public host", "https://shop.com/hook?a=1", "https://shop.com/hook?a=1"],
    ["2048 code points", longUrl(2048), longUrl(2048)],
    [
      "four-byte characters, up to 2048 when stored",
      `https://shop.com/${"😀".repeat(169)}abc`,
      `https://shop.com/${"%F0%9F%98%80".repeat(169)}abc`,
    ],
    [
      "a label of 63 characters",
      `https://${"a".repeat(63)}.com/`,
      `https://${"a".repeat(63)}.com/`,
    ],
    [
      "a name of 253 characters",
      `https://${"a.".repeat(125)}com/`,
      `https://${"a.".repeat(125)}com/`,
    ],
    ["an upper-case scheme", "HTTPS://Shop.COM/Hook", "https://shop.com/Hook"],
    ["a trailing dot, which is dropped", "https://shop.com./hook", "https://shop.com/hook"],
    [
      "an international name, converted to ASCII",
      "https://bücher.de/",
      "https://xn--bcher-kva.de/",
    ],
    ["a lookalike name, converted to ASCII", "https://аpple.com/", "https://xn--pple-43d.com/"],
    ["a soft hyphen, which is dropped", "https://sh\u00adop.com/", "https://shop.com/"],
    ["a percent-encoded host", "https://%73hop.com/", "https://shop.com/"],
    [
      "a colon and an at sign in path and query",
      "https://shop.com/a:443@b?c=d:1@e",
      "https://shop.com/a:443@b?c=d:1@e",
    ],
    ["a public literal", "https://8.8.8.8/", "https://8.8.8.8/"],
    ["a public IPv6 literal", "https://[2606:4700:4700::1111]/", "https://[2606:4700:4700::1111]/"],
    [
      "a name that only starts like a special one",
      "https://localhost.com/",
      "https://localhost.com/",
    ],
    ["a name that only ends like a special one", "https://mylocal.com/", "https://mylocal.com/"],
    ["an overridden host", "https://receiver.test/hook", "https://receiver.test/hook"],
  ])("accepts and normalizes %s (rules HOOK-2 and HOOK-3)", (_name, text, normalised) => {
    expect(parse(text)).toBe(normalised);
  });

  test("allows exactly the overridden host (rule OPS-7)", () => {
    expect(parse("https://receiver.test./hook")).toBe("https://receiver.test/hook");
    expect(parse("https://a.receiver.test/")).toBe("host_name");
    expect(parse("http://receiver.test/")).toBe("scheme");
    expect(parse("https://receiver.test:443/")).toBe("port");
  });

  test("accepts its own normalized URLs again, as every attempt does", () => {
    const normalisedOnce = parse("https://Shop.com./a b?c=ü");
    expect(parse(normalisedOnce)).toBe(normalisedOnce);
  });
});
