import { republishAccounts } from "../store/accounts.ts";
import { describe, expect, test } from "@jest/globals";
import { topics } from "@payment-links/contracts";
import { useRig } from "@payment-links/runtime/testing/use-rig";
import { openRig, refusalOf, tokenOf } from "../testing/open-rig.ts";

const rig = useRig(openRig);

const post = (path: string, body: unknown) => rig.call("POST", path, { body });

describe("POST /internal/accounts", () => {
  test("opens an account that can sign in, and tells the others of it (rule CALLER-10)", async () => {
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
    const [event, ...more] = await rig.readEvents(userId);
    expect(more).toEqual([]);
    expect(event).toMatchObject({
      type: "account.updated",
      topic: "accounts.v1",
      data: { id: userId, version: 1, handle: "alice", username: "Alice", wallets: [] },
    });
    await rig.signIn(tokenOf(body["signInUrl"]));
  });

  test("without a handle the account has none yet", async () => {
    const { status, body } = await post("/internal/accounts", { username: "No Handle" });
    expect([status, body["handle"]]).toEqual([201, null]);
  });

  test("a handle wanted twice at once goes to one account, and no other is left", async () => {
    const body = { handle: "raced", username: "Raced" };
    const answers = await Promise.all(
      Array.from({ length: 8 }, () => post("/internal/accounts", body)),
    );
    expect(answers.map(refusalOf).toSorted()).toEqual([
      "201",
      ...Array(7).fill("409 HANDLE_TAKEN"),
    ]);
    const events = await Promise.all(
      answers.map(({ body }) => rig.readEvents(String(body["userId"]))),
    );
    expect(events.flat()).toHaveLength(1);
  });

  test.each([
    ["no name", "422 missing", { handle: "nameless" }],
    ["an empty name", "422 string_too_short", { username: "" }],
    ["a bad handle", "422 INVALID_HANDLE", { handle: "a b", username: "A" }],
    ["a reserved handle", "422 INVALID_HANDLE", { handle: "admin", username: "A" }],
    ["no body", "422 missing", ""],
  ])("given %s, answers %s", async (_name, expected, body) => {
    expect(refusalOf(await post("/internal/accounts", body))).toBe(expected);
  });
});

describe("POST /internal/sign-in-links", () => {
  test("lets a person in again, by the handle, a former one, or the id", async () => {
    const { userId, cookie } = await rig.signUp({ handle: "former" });
    const body = { handle: "present" };
    await rig.call("PATCH", "/console/api/account", { cookie, body });
    for (const whom of [{ handle: "present" }, { handle: "FORMER" }, { userId }]) {
      const { status, body: link } = await post("/internal/sign-in-links", whom);
      expect([status, Object.keys(link)]).toEqual([201, ["signInUrl"]]);
      const signedIn = await rig.signIn(tokenOf(link["signInUrl"]));
      const account = await rig.call("GET", "/console/api/session", { cookie: signedIn });
      expect(account.body["id"]).toBe(userId);
    }
  });

  test.each([
    ["a handle that nobody has", "404 NOT_FOUND", { handle: "nobody" }],
    ["an id that nobody has", "404 NOT_FOUND", { userId: "user_none" }],
    ["nobody's name", "422 missing", {}],
    ["a handle that is a number", "422 string_type", { handle: 5 }],
  ])("given %s, answers %s", async (_name, expected, body) => {
    expect(refusalOf(await post("/internal/sign-in-links", body))).toBe(expected);
  });
});

describe("POST /internal/republish/accounts", () => {
  test("has every account's present state told once, as a snapshot of its present version", async () => {
    const own = await openRig();
    try {
      const { userId: other } = await own.makeAccount();
      const { cookie, userId } = await own.signUp();
      const body = { walletAddress: `0x${"1".repeat(40)}`, tokenId: "usdc-base" };
      await own.call("POST", "/console/api/wallets", { cookie, body });
      const asked = await own.call("POST", "/internal/republish/accounts");
      const askedAt = own.clock.now().toISOString();
      expect([asked.status, asked.body]).toEqual([
        202,
        { publishedCount: 0, askedAt, endedAt: null },
      ]);
      await own.republish(republishAccounts);
      const told = await own.call("GET", "/internal/republish/accounts");
      // Two records for each account: the whole of it, and its images.
      expect(told.body).toEqual({ publishedCount: 4, askedAt, endedAt: askedAt });
      const types = (await own.readEvents(other)).map(({ type }) => type);
      expect(types).toEqual(["account.updated", "account.snapshot"]);
      const events = await own.readEvents(userId);
      expect(events.map(({ type, data }) => [type, data.version])).toEqual([
        ["account.updated", 1],
        ["account.updated", 2],
        ["account.snapshot", 2],
      ]);
      expect(events[2]?.data).toEqual(events[1]?.data);
    } finally {
      await own.close();
    }
  });

  test("publishes an account's images alone on a topic of their own, under the same versions (rule EVENT-10)", async () => {
    const own = await openRig();
    try {
      const { cookie, userId } = await own.signUp();
      const profileImage = "https://images.example/a.png";
      await own.call("PATCH", "/console/api/account", { cookie, body: { profileImage } });
      await own.call("POST", "/internal/republish/accounts");
      await own.republish(republishAccounts);
      const images = { id: userId, backgroundImage: null };
      const [first, ...rest] = await own.readEvents(userId, topics.ownerImages);
      expect([first?.type, first?.data]).toEqual([
        "owner_images.updated",
        { ...images, version: 1, profileImage: null },
      ]);
      const changed = { ...images, version: 2, profileImage };
      expect(rest.map(({ type, data }) => [type, data])).toEqual([
        ["owner_images.updated", changed],
        ["owner_images.snapshot", changed],
      ]);
    } finally {
      await own.close();
    }
  });
});

describe("the internal calls", () => {
  const calls = [
    ["POST", "/internal/introspect"],
    ["POST", "/internal/accounts"],
    ["POST", "/internal/sign-in-links"],
    ["POST", "/internal/republish/accounts"],
  ] as const;

  test.each(calls)("%s %s is not to be had on the public port", async (method, path) => {
    const answer = await fetch(`${rig.publicUrl}${path}`, { method });
    expect(answer.status).toBe(404);
  });

  test.each(calls)("%s %s refuses a browser", async (method, path) => {
    const headers = { origin: "http://127.0.0.1:8080" };
    const answer = await rig.call(method, path, { headers, body: { username: "X" } });
    expect(refusalOf(answer)).toBe("403 FORBIDDEN");
  });
});
