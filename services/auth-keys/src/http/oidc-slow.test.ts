import { afterEach, beforeEach, describe, expect, test } from "@jest/globals";
import { get } from "node:http";
import { loadCatalogue } from "@payment-links/contracts";
import { systemClock } from "@payment-links/runtime";
import { waitUntil } from "@payment-links/runtime/testing";
import type { Dependencies } from "../dependencies.ts";
import { requestTimeoutSeconds } from "../issuer/oidc-issuer.ts";
import { createPublicRoutes } from "../routes.ts";
import { getCookies, createRig, summarizeResponse, type Rig } from "../testing/create-rig.ts";
import { type TamperingIssuer, startTamperingIssuer } from "../testing/tampering-issuer.ts";

const startPath = "/console/api/session/oidc";
const minuteMs = 60_000;
/** The time limit of one database statement. */
const statementMsMax = 5_000;

let issuer: TamperingIssuer;
let rig: Rig;
beforeEach(async () => {
  issuer = await startTamperingIssuer();
  rig = await createRig({ oidc: issuer.client });
});
afterEach(async () => {
  await rig.close();
  await issuer.close();
});

/** Starts a sign-in, and returns the callback request that the browser can send later. */
const startSignIn = async (path = startPath, sessionCookie = "") => {
  const startResponse = await rig.call("GET", path, { cookie: sessionCookie });
  const authorizationParams = new URL(startResponse.headers.get("location") ?? "").searchParams;
  const now = rig.clock.now();
  const claims = issuer.claims(authorizationParams.get("nonce") ?? "", now);
  issuer.setTokenResponse(await issuer.signToken({ ...claims, auth_time: claims["iat"] }));
  return {
    path: `${startPath}/callback?code=made-up&state=${authorizationParams.get("state")}`,
    cookie: `${sessionCookie}; ${getCookies(startResponse.headers)}`,
  };
};

const signInWithIssuer = async (): Promise<string> => {
  const { path, cookie } = await startSignIn();
  return getCookies((await rig.call("GET", path, { cookie })).headers);
};

const getSessionStatus = async (cookie: string) =>
  summarizeResponse(await rig.call("GET", "/console/api/session", { cookie }));

/** Returns how many sign-ins ended with each outcome. */
const countSignIns = async (): Promise<Record<string, number>> => {
  const metric = await rig.metrics.getSingleMetric("payment_links_sign_ins_total")?.get();
  const countedValues = metric?.values.filter(({ labels }) => labels["method"] === "oidc") ?? [];
  return Object.fromEntries(countedValues.map(({ labels, value }) => [labels["outcome"], value]));
};

/** Returns how many callbacks were handled, whether or not the browser was still connected. */
const countCallbackResponses = (): number =>
  rig.logLines.filter(
    (logLine) => logLine.includes("/callback") && logLine.includes("request completed"),
  ).length;

const isClientGone = async (): Promise<boolean> => {
  const metric = await rig.metrics.getSingleMetric("http_server_request_duration_seconds")?.get();
  return metric?.values.some(({ labels }) => labels["http_response_status_code"] === 499) ?? false;
};

/** Returns the response time limits of the routes that involve the provider. */
const getResponseTimeouts = (): (number | undefined)[] =>
  createPublicRoutes({ catalogue: loadCatalogue(), clock: systemClock } as Dependencies)
    .filter(({ path }) => path.startsWith(startPath))
    .map(({ responseMsMax }) => responseMsMax);

describe("a slow issuer", () => {
  test("has enough time for all requests of a sign-in, which then signs the user in once", async () => {
    const { cookie: previousCookie, userId } = await rig.signUp();
    await startSignIn();
    rig.clock.advance(59 * minuteMs);
    const { path, cookie } = await startSignIn(startPath, previousCookie);
    // The cached metadata is now more than an hour old, so it is requested again.
    rig.clock.advance(2 * minuteMs);
    const requestedPaths: string[] = [];
    issuer.hooks.beforeResponse = async (requestedPath) => void requestedPaths.push(requestedPath);
    const { status, headers } = await rig.call("GET", path, { cookie });
    expect([status, headers.get("location")]).toEqual([303, "http://127.0.0.1:8080/console"]);
    expect(await getSessionStatus(getCookies(headers))).toBe("200");
    expect(await getSessionStatus(previousCookie)).toBe("401 UNAUTHENTICATED");
    expect((await rig.readAudit(userId)).at(-1)).toBe("session.ended");

    expect(requestedPaths).toEqual(["/.well-known/openid-configuration", "/token", "/keys"]);
    const requestsMsMax = requestedPaths.length * requestTimeoutSeconds * 1000;
    // Each route's timeout must also leave the usual time for our database.
    const isSufficient = getResponseTimeouts().map(
      (ms = 0) => ms >= requestsMsMax + statementMsMax,
    );
    expect(isSufficient).toEqual([true, true]);
  });
});

describe("a browser that disconnects before the issuer responds", () => {
  /**
   * Sends the callback and disconnects while the issuer's response is pending. Then lets the issuer
   * respond.
   */
  const returnAndDisconnect = async ({ path, cookie }: Awaited<ReturnType<typeof startSignIn>>) => {
    const requestReceived = Promise.withResolvers<void>();
    const clientDisconnected = Promise.withResolvers<void>();
    issuer.hooks.beforeResponse = async () => {
      requestReceived.resolve();
      await clientDisconnected.promise;
    };
    const callbacksBefore = countCallbackResponses();
    const request = get(`${rig.publicUrl}${path}`, { headers: { cookie } }).on("error", () => {});
    await requestReceived.promise;
    request.destroy();
    await waitUntil("the browser has disconnected", isClientGone);
    clientDisconnected.resolve();
    await waitUntil("the callback has ended", () => countCallbackResponses() > callbacksBefore);
  };

  test("keeps its existing session, and gets no new one", async () => {
    const { cookie, userId } = await rig.signUp();
    const auditBefore = await rig.readAudit(userId);
    await returnAndDisconnect(await startSignIn(startPath, cookie));
    expect(await getSessionStatus(cookie)).toBe("200");
    expect(await rig.readAudit(userId)).toEqual(auditBefore);
  });

  test("causes neither an error in the log nor a failed sign-in", async () => {
    await returnAndDisconnect(await startSignIn());
    expect(rig.logLines.filter((logLine) => logLine.includes('"level":"error"'))).toEqual([]);
    expect(await countSignIns()).toEqual({ left: 1 });
  });

  test("keeps its session token when it was proving presence", async () => {
    const cookie = await signInWithIssuer();
    await returnAndDisconnect(await startSignIn(`${startPath}?prove=true`, cookie));
    expect(await getSessionStatus(cookie)).toBe("200");
  });
});
