import { afterEach, beforeEach, describe, expect, test } from "@jest/globals";
import { get } from "node:http";
import { openCatalogue } from "@payment-links/contracts";
import { systemClock } from "@payment-links/runtime";
import { waitUntil } from "@payment-links/runtime/testing";
import type { Deps } from "../deps.ts";
import { questionSeconds } from "../issuer/oidc-issuer.ts";
import { publicRoutes } from "../routes.ts";
import { cookieOf, openRig, refusalOf, type Rig } from "../testing/open-rig.ts";
import { type TamperingIssuer, openTamperingIssuer } from "../testing/tampering-issuer.ts";

const startPath = "/console/api/session/oidc";
const minuteMs = 60_000;
/** How long one statement of the database may take. */
const statementMsMax = 5_000;

let issuer: TamperingIssuer;
let rig: Rig;
beforeEach(async () => {
  issuer = await openTamperingIssuer();
  rig = await openRig({ oidc: issuer.client });
});
afterEach(async () => {
  await rig.close();
  await issuer.close();
});

/** Begins a sign-in; answers what the browser comes back with, whenever that is. */
const begin = async (path = startPath, session = "") => {
  const started = await rig.call("GET", path, { cookie: session });
  const asked = new URL(started.headers.get("location") ?? "").searchParams;
  const now = rig.clock.now();
  const claims = issuer.claims(asked.get("nonce") ?? "", now);
  issuer.giveToken(await issuer.sign({ ...claims, auth_time: claims["iat"] }));
  return {
    path: `${startPath}/callback?code=made-up&state=${asked.get("state")}`,
    cookie: `${session}; ${cookieOf(started.headers)}`,
  };
};

const signInByIssuer = async (): Promise<string> => {
  const { path, cookie } = await begin();
  return cookieOf((await rig.call("GET", path, { cookie })).headers);
};

const whoIs = async (cookie: string) =>
  refusalOf(await rig.call("GET", "/console/api/session", { cookie }));

/** How many sign-ins ended in each way. */
const countSignIns = async (): Promise<Record<string, number>> => {
  const metric = await rig.metrics.getSingleMetric("payment_links_sign_ins_total")?.get();
  const counted = metric?.values.filter(({ labels }) => labels["method"] === "oidc") ?? [];
  return Object.fromEntries(counted.map(({ labels, value }) => [labels["outcome"], value]));
};

/** How many browsers that came back are done with, heard or not. */
const countReturns = (): number =>
  rig.logLines.filter((line) => line.includes("/callback") && line.includes("was answered")).length;

const isClientGone = async (): Promise<boolean> => {
  const metric = await rig.metrics.getSingleMetric("http_server_request_duration_seconds")?.get();
  return metric?.values.some(({ labels }) => labels["http_response_status_code"] === 499) ?? false;
};

/** How long the routes between us and the provider let a browser wait. */
const waitsOfRoutes = (): (number | undefined)[] =>
  publicRoutes({ catalogue: openCatalogue(), clock: systemClock } as Deps)
    .filter(({ path }) => path.startsWith(startPath))
    .map(({ answerMsMax }) => answerMsMax);

describe("an issuer that takes its time for each question", () => {
  test("is waited for through all that a sign-in asks it, and signs a person in, once", async () => {
    const { cookie: former, userId } = await rig.signUp();
    await begin();
    rig.clock.advance(59 * minuteMs);
    const { path, cookie } = await begin(startPath, former);
    // What it said of itself is more than an hour old then, and asked for once more.
    rig.clock.advance(2 * minuteMs);
    const asked: string[] = [];
    issuer.waits.beforeAnswer = async (question) => void asked.push(question);
    const { status, headers } = await rig.call("GET", path, { cookie });
    expect([status, headers.get("location")]).toEqual([303, "http://127.0.0.1:8080/console"]);
    expect(await whoIs(cookieOf(headers))).toBe("200");
    expect(await whoIs(former)).toBe("401 UNAUTHENTICATED");
    expect((await rig.readAudit(userId)).at(-1)).toBe("session.ended");

    expect(asked).toEqual(["/.well-known/openid-configuration", "/token", "/keys"]);
    const askingMs = asked.length * questionSeconds * 1000;
    // Each route has a limit of its own, which leaves our database as long as usual.
    const isEnough = waitsOfRoutes().map((ms = 0) => ms >= askingMs + statementMsMax);
    expect(isEnough).toEqual([true, true]);
  });
});

describe("a browser that went away before the issuer answered", () => {
  /** Comes back and goes away while the issuer is asked, which answers then. */
  const comeBackAndLeave = async ({ path, cookie }: Awaited<ReturnType<typeof begin>>) => {
    const isAsked = Promise.withResolvers<void>();
    const isLeft = Promise.withResolvers<void>();
    issuer.waits.beforeAnswer = async () => {
      isAsked.resolve();
      await isLeft.promise;
    };
    const before = countReturns();
    const request = get(`${rig.publicUrl}${path}`, { headers: { cookie } }).on("error", () => {});
    await isAsked.promise;
    request.destroy();
    await waitUntil("the browser is gone", isClientGone);
    isLeft.resolve();
    await waitUntil("the sign-in is over", () => countReturns() > before);
  };

  test("keeps the session that it had, and no other is begun", async () => {
    const { cookie, userId } = await rig.signUp();
    const before = await rig.readAudit(userId);
    await comeBackAndLeave(await begin(startPath, cookie));
    expect(await whoIs(cookie)).toBe("200");
    expect(await rig.readAudit(userId)).toEqual(before);
  });

  test("is no error in the log, and no sign-in that failed", async () => {
    await comeBackAndLeave(await begin());
    expect(rig.logLines.filter((line) => line.includes('"level":"error"'))).toEqual([]);
    expect(await countSignIns()).toEqual({ left: 1 });
  });

  test("keeps its session's token where it was to prove presence", async () => {
    const cookie = await signInByIssuer();
    await comeBackAndLeave(await begin(`${startPath}?prove=true`, cookie));
    expect(await whoIs(cookie)).toBe("200");
  });
});
