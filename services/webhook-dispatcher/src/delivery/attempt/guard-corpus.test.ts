import { afterAll, beforeAll, beforeEach, describe, expect, test } from "@jest/globals";
import { createFakeClock, createLog } from "@payment-links/runtime";
import { interceptConnections } from "@payment-links/runtime/testing/intercept-connections";
import { ampleTimeoutMs } from "@payment-links/runtime/testing/time-limits";
import { validateWebhookUrl } from "../../guard/validate-webhook-url.ts";
import { type Resolve, createDnsResolver } from "../../guard/resolver.ts";
import { startNameServer } from "../../testing/start-name-server.ts";
import { sampleAttempt } from "../../testing/samples.ts";
import { parseWebhookUrl } from "../../guard/webhook-url.ts";
import { createDeadlines } from "./deadlines.ts";
import { makeAttempt } from "./make-attempt.ts";
import { createTransport } from "./transport.ts";

/*
 * The ways in which a webhook could reach an internal network, tested against the whole delivery
 * path. Each URL is tried at registration and as if it were already stored, with DNS on loopback.
 * The tests check which addresses a socket dials, recorded beneath Node's own hooks. No real
 * connection is made. The tests of parseWebhookUrl, isPublicAddress and the connector try every
 * form and every range.
 */

const clock = createFakeClock(new Date("2026-11-21T10:00:00.000Z"));
const rules = { overriddenHosts: new Set<string>(), ownHosts: new Set(["pay.shop.com"]) };
const log = createLog({ service: "test", level: "silent" });
const timeoutMs = ampleTimeoutMs;
const publicAddress = "93.184.216.34";

/** The name server's responses, one per query. The last one is repeated. */
let dnsRecords: Record<"A" | "AAAA", string[][]>;
let queryCount: number;
beforeEach(() => {
  dnsRecords = { A: [[]], AAAA: [[]] };
  queryCount = 0;
});

let nameServer: Awaited<ReturnType<typeof startNameServer>>;
let resolve: Resolve;
beforeAll(async () => {
  nameServer = await startNameServer((_name, type) => {
    queryCount += 1;
    const responses = dnsRecords[type];
    return responses.length > 1 ? responses.shift() : responses[0];
  });
  resolve = createDnsResolver({ timeoutMs, servers: [nameServer.server] });
});
afterAll(() => nameServer.close());

/** Makes one attempt at a URL as if it were stored. Returns its outcome and the dialed addresses. */
const attemptUrl = async (url: string) => {
  const transport = createTransport({
    resolve,
    clock,
    overrides: new Map(),
    connectionsMax: 1,
    connectTimeoutMs: timeoutMs,
  });
  const dials = interceptConnections();
  const parsedUrl = parseWebhookUrl(url, rules);
  const deadlines = createDeadlines(clock, timeoutMs);
  const { outcome } = await makeAttempt(
    { transport, log, deadlines, headerPrefix: "Service" },
    sampleAttempt(
      typeof parsedUrl === "string" ? null : parsedUrl,
      clock.now(),
      new Date(clock.now().getTime() + 2 * timeoutMs),
    ),
  );
  dials.restore();
  await transport.close();
  return { kind: outcome.kind, error: outcome.error, dialled: dials.dialedAddresses };
};

const blockedResult = { kind: "blocked", error: "blocked address", dialled: [] };

/**
 * Expects that a URL is rejected at registration, and blocked without a dial if it is already
 * stored.
 */
const expectBlocked = async (url: string) => {
  expect(await validateWebhookUrl(url, { rules, resolve })).not.toBeInstanceOf(URL);
  expect(await attemptUrl(url)).toEqual(blockedResult);
};

test("a public host is dialed and recorded, which proves that the cases below would notice a dial", async () => {
  dnsRecords = { A: [[publicAddress]], AAAA: [["2606:4700::1"]] };
  expect(await validateWebhookUrl("https://shop.com/", { rules, resolve })).toBeInstanceOf(URL);
  const { kind, dialled } = await attemptUrl("https://shop.com/");
  expect([kind, new Set(dialled)]).toEqual(["refused", new Set([publicAddress, "2606:4700::1"])]);
  expect((await attemptUrl(`https://${publicAddress}/`)).dialled).toEqual([publicAddress]);
});

describe("an IP literal", () => {
  test.each([
    ["loopback", "127.0.0.1"],
    ["loopback, hexadecimal", "0x7f.1"],
    ["loopback, full-width digits", "１２７.０.０.１"],
    ["AWS, GCP and Azure metadata", "169.254.169.254"],
    ["IPv4-mapped", "[::ffff:127.0.0.1]"],
    ["unique-local, AWS metadata", "[fd00:ec2::254]"],
  ])("is blocked without a DNS lookup: %s", async (_name, host) => {
    await expectBlocked(`https://${host}/hook`);
    expect(queryCount).toBe(0);
  });
});

describe("a URL that is rejected for its form", () => {
  test.each([
    ["plain http", `http://${publicAddress}/`],
    ["a user that looks like a host", `https://shop.com@${publicAddress}/`],
    ["a port of an internal service", "https://shop.com:6379/"],
    ["CR LF in the path", "https://shop.com/a\r\nHost: b"],
    ["a fully qualified cluster-internal name", "https://links-api.default.svc.cluster.local./"],
    ["GCP metadata name", "https://metadata.google.internal/"],
    ["the service's own host in full-width letters", "https://ｐａｙ.shop.com/hook"],
  ])("is not dialed: %s", async (_name, url) => {
    dnsRecords = { A: [[publicAddress]], AAAA: [[]] };
    await expectBlocked(url);
    expect(queryCount).toBe(0);
  });
});

describe("a name that DNS resolves to (rule HOOK-3)", () => {
  test.each([
    ["loopback", { A: ["127.0.0.1"] }],
    ["unique-local", { AAAA: ["fd00:ec2::254"] }],
    ["a private address through a CNAME", { A: ["inside.shop.com", "10.0.0.1"] }],
    ["loopback through two CNAMEs", { A: ["a.shop.com", "b.shop.com", "127.0.0.1"] }],
    ["a public address, then a private one", { A: [publicAddress, "10.0.0.1"] }],
    ["a private address, then a public one", { A: ["10.0.0.1", publicAddress] }],
    ["a public A and a private AAAA", { A: [publicAddress], AAAA: ["::1"] }],
    ["a public AAAA and a private A", { A: ["192.168.0.1"], AAAA: ["2606:4700::1"] }],
    [
      "seventeen addresses, the last of them private",
      { A: [...Array.from({ length: 16 }, (_, index) => `93.184.216.${index}`), "10.0.0.1"] },
    ],
  ])("%s is blocked", async (_name, { A = [], AAAA = [] }: { A?: string[]; AAAA?: string[] }) => {
    dnsRecords = { A: [A], AAAA: [AAAA] };
    await expectBlocked("https://shop.com/hook");
    expect(queryCount).toBeGreaterThan(0);
  });

  test("a public address at registration and a private one later is blocked at the attempt (rule HOOK-4)", async () => {
    dnsRecords.A = [[publicAddress], ["127.0.0.1"]];
    expect(await validateWebhookUrl("https://shop.com/", { rules, resolve })).toBeInstanceOf(URL);
    expect(await attemptUrl("https://shop.com/")).toEqual(blockedResult);
  });

  test("a public address at the check and a private one afterwards is dialed as checked", async () => {
    dnsRecords.A = [[publicAddress], ["127.0.0.1"]];
    expect(await attemptUrl("https://shop.com/")).toMatchObject({
      kind: "refused",
      dialled: [publicAddress],
    });
  });

  test("no address fails the attempt without a dial", async () => {
    const error = "DNS: host name does not resolve";
    expect(await attemptUrl("https://shop.com/")).toEqual({ kind: "dns", error, dialled: [] });
  });

  test("the NAT64 form of a public address is allowed, because networks with DNS64 return only that form", async () => {
    dnsRecords.AAAA = [["64:ff9b::808:808"]];
    expect((await attemptUrl("https://shop.com/")).dialled).toEqual(["64:ff9b::808:808"]);
  });

  test("a private address is blocked for a name with a trailing dot, soft hyphen or full-width letters", async () => {
    dnsRecords.A = [["10.0.0.1"]];
    await expectBlocked("https://shop.com./");
    await expectBlocked("https://sh\u00adop.com/");
    await expectBlocked("https://ｓｈｏｐ.com/");
  });
});
