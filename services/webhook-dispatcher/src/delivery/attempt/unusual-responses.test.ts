import { getCACertificates, setDefaultCACertificates } from "node:tls";
import { afterAll, beforeAll, describe, expect, test } from "@jest/globals";
import { createFakeClock } from "@payment-links/runtime";
import { waitUntil } from "@payment-links/runtime/testing";
import { ampleTimeoutMs } from "@payment-links/runtime/testing/time-limits";
import { certificates } from "../../testing/certificates.ts";
import { startRawServer } from "../../testing/start-raw-server.ts";
import { type Rig, createRig } from "../../testing/create-rig.ts";
import {
  truncatedResponses,
  malformedResponses,
  tolerableResponses,
} from "../../testing/unusual-responses.ts";
import { type Transport, createTransport } from "./transport.ts";

type RawServer = Awaited<ReturnType<typeof startRawServer>>;

const clock = createFakeClock(new Date("2026-11-21T10:00:00.000Z"));
const { authority, key, good: cert } = certificates;
const statuses = ["200 OK", "204 No Content", "302 Found", "500 Internal Server Error"];
const plainResponse = "HTTP/1.1 201 Created\r\nContent-Length: 0\r\n\r\n";

const createUnusualResponses = (status: string) => ({
  ...malformedResponses(status),
  ...tolerableResponses(status),
  ...truncatedResponses(status),
});

/**
 * Every unusual response with each status, such as `/500/a folded header`, and `/plain`, a normal
 * one.
 */
const allResponses = {
  plain: (socket: { write: (text: string) => unknown }) => void socket.write(plainResponse),
  ...Object.fromEntries(
    statuses.flatMap((status) =>
      Object.entries(createUnusualResponses(status)).map(([name, respond]) => [
        `${status.slice(0, 3)}/${name}`,
        respond,
      ]),
    ),
  ),
};
const names = Object.keys(createUnusualResponses("200 OK"));
const tolerableNames = Object.keys(tolerableResponses("200 OK"));

/** Returns whether a connection that served one of those paths also served another request. */
const wasReusedAfter = (server: RawServer, isUnusual: (path: string) => boolean): boolean =>
  server.pathsByConnection().some((paths) => paths.slice(0, -1).some(isUnusual));

describe.each(["http", "https"])("over %s", (scheme) => {
  const trustedCertificates = getCACertificates();
  let server: RawServer;
  let transport: Transport;
  beforeAll(async () => {
    setDefaultCACertificates([authority]);
    server = await startRawServer(allResponses, scheme === "https" ? { key, cert } : undefined);
    transport = createTransport({
      resolve: () => Promise.reject(new Error("unexpected DNS lookup")),
      clock,
      overrides: new Map([["receiver.test", new URL(server.origin)]]),
      connectionsMax: 1,
      connectTimeoutMs: ampleTimeoutMs,
    });
  });
  afterAll(async () => {
    await transport.close();
    server.close();
    setDefaultCACertificates(trustedCertificates);
  });

  const post = (path: string): Promise<number> => {
    const url = new URL(`https://receiver.test/${encodeURIComponent(path)}`);
    const { signal } = new AbortController();
    return transport.post({ url, headers: {}, body: "{}", signal });
  };

  test.each(names)(
    "the status line decides in spite of anything else in the response: %s (rule HOOK-19)",
    async (name) => {
      const codes = statuses.map((status) => Number(status.slice(0, 3)));
      const statusCodes: number[] = [];
      for (const code of codes) statusCodes.push(await post(`${code}/${name}`));
      expect(statusCodes).toEqual(codes);
    },
  );

  test("a connection is not reused after a malformed response (rule HOOK-19)", async () => {
    expect([await post("plain"), await post("plain")]).toEqual([201, 201]);
    expect(wasReusedAfter(server, (path) => path === "plain")).toBe(true);
    const isMalformed = (path: string): boolean =>
      path !== "plain" && !tolerableNames.includes(path.slice("200/".length));
    expect(wasReusedAfter(server, isMalformed)).toBe(false);
    await waitUntil("all other connections are closed", () => server.openCount() === 1);
  });
});

describe("a webhook", () => {
  let server: RawServer;
  let rig: Rig;
  beforeAll(async () => {
    server = await startRawServer(allResponses);
    const environment = { WEBHOOK_HOST_OVERRIDES: `receiver.test=${server.origin}` };
    rig = await createRig({ environment });
    await rig.service.start();
  });
  afterAll(async () => {
    await rig.close();
    server.close();
  });

  /** Sends one webhook to the path. Returns its log entry after the first attempt. */
  const attemptPath = async (path: string) => {
    const person = rig.signIn();
    const endpoint = await rig.register(person, `/${encodeURIComponent(path)}`);
    await rig.publishCompleted(person);
    return waitUntil("the attempt has ended", async () => {
      const [entry] = await rig.readLog(person, endpoint);
      const hasEnded = entry?.["status"] === "Delivered" || entry?.["nextAttemptAt"] !== null;
      return entry?.["attempts"] === 1 && hasEnded ? entry : undefined;
    });
  };

  test("is delivered once by a 2xx, no matter what else is in the response (rules HOOK-13 and HOOK-19)", async () => {
    const delivered = { status: "Delivered", httpStatus: 200, error: null, nextAttemptAt: null };
    const entries = await Promise.all(
      names.map(async (name) => {
        const { status, httpStatus, error, nextAttemptAt } = await attemptPath(`200/${name}`);
        return [name, { status, httpStatus, error, nextAttemptAt }];
      }),
    );
    expect(entries).toEqual(names.map((name) => [name, delivered]));
    const paths = server.pathsByConnection().flat();
    expect(paths.toSorted()).toEqual(names.map((name) => `200/${name}`).toSorted());
  });

  test.each(["302/a folded header", "500/two equal Content-Length", "500/nothing"])(
    "fails with the status of a malformed response other than 2xx: %s",
    async (path) => {
      const code = Number(path.slice(0, 3));
      expect(await attemptPath(path)).toMatchObject({
        status: "Pending",
        httpStatus: code,
        error: `status ${code}`,
      });
    },
  );
});
