import { republishAccounts } from "../store/accounts.ts";
import { describe, expect, test } from "@jest/globals";
import { topics } from "@payment-links/contracts";
import { useRig } from "@payment-links/runtime/testing/use-rig";
import { createRig, summarizeResponse, parseToken } from "../testing/create-rig.ts";

const rig = useRig(createRig);

const post = (path: string, body: unknown) => rig.call("POST", path, { body });

describe("POST /internal/accounts", () => {
  test("creates and publishes an account that can sign in (rule CALLER-10)", async () => {
    const { status, body } = await post("/internal/accounts", {
      handle: "Alice",
      username: "Alice",
    });
    const userId = String(body["userId"]);
    expect(status).toBe(201);
    expect(body).toEqual({
      userId: expect.stringMatching(/^user_/),
      handle: "alice",
      signInUrl: expect.stringMatching(
        /^http:\/\/127\.0\.0\.1:8080\/console\/sign-in#token=[\w-]{43}$/,
      ),
    });
    const [event, ...otherEvents] = await rig.readEvents(userId);
    expect(otherEvents).toEqual([]);
    expect(event).toMatchObject({
      type: "account.updated",
      topic: "accounts.v1",
      data: { id: userId, version: 1, handle: "alice", username: "Alice", wallets: [] },
    });
    await rig.signIn(parseToken(body["signInUrl"]));
  });

  test("creates an account without a handle if none is given", async () => {
    const { status, body } = await post("/internal/accounts", { username: "No Handle" });
    expect([status, body["handle"]]).toEqual([201, null]);
  });

  test("creates exactly one account if several concurrent requests want the same handle", async () => {
    const body = { handle: "raced", username: "Raced" };
    const responses = await Promise.all(
      Array.from({ length: 8 }, () => post("/internal/accounts", body)),
    );
    expect(responses.map(summarizeResponse).toSorted()).toEqual([
      "201",
      ...Array(7).fill("409 HANDLE_TAKEN"),
    ]);
    const events = await Promise.all(
      responses.map(({ body }) => rig.readEvents(String(body["userId"]))),
    );
    expect(events.flat()).toHaveLength(1);
  });

  test.each([
    ["no name", "422 missing", { handle: "nameless" }],
    ["an empty name", "422 string_too_short", { username: "" }],
    ["an invalid handle", "422 INVALID_HANDLE", { handle: "a b", username: "A" }],
    ["a reserved handle", "422 INVALID_HANDLE", { handle: "admin", username: "A" }],
    ["no body", "422 missing", ""],
  ])("given %s, responds %s", async (_name, expected, body) => {
    expect(summarizeResponse(await post("/internal/accounts", body))).toBe(expected);
  });
});

describe("POST /internal/sign-in-links", () => {
  test("lets a user sign in again, selected by the current handle, a former one, or the id", async () => {
    const { userId, cookie } = await rig.signUp({ handle: "former" });
    const body = { handle: "present" };
    await rig.call("PATCH", "/console/api/account", { cookie, body });
    for (const selector of [{ handle: "present" }, { handle: "FORMER" }, { userId }]) {
      const { status, body: link } = await post("/internal/sign-in-links", selector);
      expect([status, Object.keys(link)]).toEqual([201, ["signInUrl"]]);
      const signedInCookie = await rig.signIn(parseToken(link["signInUrl"]));
      const account = await rig.call("GET", "/console/api/session", { cookie: signedInCookie });
      expect(account.body["id"]).toBe(userId);
    }
  });

  test.each([
    ["an unknown handle", "404 NOT_FOUND", { handle: "nobody" }],
    ["an unknown id", "404 NOT_FOUND", { userId: "user_none" }],
    ["neither handle nor id", "422 missing", {}],
    ["a handle that is a number", "422 string_type", { handle: 5 }],
  ])("given %s, responds %s", async (_name, expected, body) => {
    expect(summarizeResponse(await post("/internal/sign-in-links", body))).toBe(expected);
  });
});

describe("POST /internal/republish/accounts", () => {
  test("publishes every account's current state once, as a snapshot with its current version", async () => {
    const ownRig = await createRig();
    try {
      const { userId: otherUserId } = await ownRig.createAccount();
      const { cookie, userId } = await ownRig.signUp();
      const body = { walletAddress: `0x${"1".repeat(40)}`, tokenId: "usdc-base" };
      await ownRig.call("POST", "/console/api/wallets", { cookie, body });
      const republishResponse = await ownRig.call("POST", "/internal/republish/accounts");
      const requestedAt = ownRig.clock.now().toISOString();
      expect([republishResponse.status, republishResponse.body]).toEqual([
        202,
        { publishedCount: 0, askedAt: requestedAt, endedAt: null },
      ]);
      await ownRig.republish(republishAccounts);
      const progressResponse = await ownRig.call("GET", "/internal/republish/accounts");
      // Two records per account: the whole account, and its images.
      expect(progressResponse.body).toEqual({
        publishedCount: 4,
        askedAt: requestedAt,
        endedAt: requestedAt,
      });
      const types = (await ownRig.readEvents(otherUserId)).map(({ type }) => type);
      expect(types).toEqual(["account.updated", "account.snapshot"]);
      const events = await ownRig.readEvents(userId);
      expect(events.map(({ type, data }) => [type, data.version])).toEqual([
        ["account.updated", 1],
        ["account.updated", 2],
        ["account.snapshot", 2],
      ]);
      expect(events[2]?.data).toEqual(events[1]?.data);
    } finally {
      await ownRig.close();
    }
  });

  test("publishes an account's images on a separate topic with the same versions (rule EVENT-10)", async () => {
    const ownRig = await createRig();
    try {
      const { cookie, userId } = await ownRig.signUp();
      const profileImage = "https://images.example/a.png";
      await ownRig.call("PATCH", "/console/api/account", { cookie, body: { profileImage } });
      await ownRig.call("POST", "/internal/republish/accounts");
      await ownRig.republish(republishAccounts);
      const images = { id: userId, backgroundImage: null };
      const [first, ...remainingEvents] = await ownRig.readEvents(userId, topics.ownerImages);
      expect([first?.type, first?.data]).toEqual([
        "owner_images.updated",
        { ...images, version: 1, profileImage: null },
      ]);
      const changedImages = { ...images, version: 2, profileImage };
      expect(remainingEvents.map(({ type, data }) => [type, data])).toEqual([
        ["owner_images.updated", changedImages],
        ["owner_images.snapshot", changedImages],
      ]);
    } finally {
      await ownRig.close();
    }
  });
});

describe("the internal endpoints", () => {
  const calls = [
    ["POST", "/internal/introspect"],
    ["POST", "/internal/accounts"],
    ["POST", "/internal/sign-in-links"],
    ["POST", "/internal/republish/accounts"],
  ] as const;

  test.each(calls)("do not serve %s %s on the public port", async (method, path) => {
    const response = await fetch(`${rig.publicUrl}${path}`, { method });
    expect(response.status).toBe(404);
  });

  test.each(calls)("reject %s %s from a browser", async (method, path) => {
    const headers = { origin: "http://127.0.0.1:8080" };
    const response = await rig.call(method, path, { headers, body: { username: "X" } });
    expect(summarizeResponse(response)).toBe("403 FORBIDDEN");
  });
});
