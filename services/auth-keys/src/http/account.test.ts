import { describe, expect, test } from "@jest/globals";
import { sqlVoid } from "@payment-links/postgres";
import { useRig } from "@payment-links/runtime/testing/use-rig";
import { createRig, summarizeResponse } from "../testing/create-rig.ts";

const path = "/console/api/account";

const rig = useRig(createRig);

const patchAccount = (cookie: string, body: unknown) => rig.call("PATCH", path, { cookie, body });

describe("PATCH /console/api/account", () => {
  test("changes every given field, and publishes them in one event without unknown fields", async () => {
    const { userId, cookie } = await rig.signUp({ handle: "before", username: "Before" });
    const response = await patchAccount(cookie, {
      handle: "After_1",
      username: "Zoë 🦊",
      bio: "Sells tea.",
      profileImage: "https://img.example/a.png",
      backgroundImage: "https://img.example/b.png",
      backgroundColour: "#A0B1C2",
      links: ["https://one.example/", "http://two.example/x"],
      returnUrl: "https://Shop.example?a=1#top",
      ignored: true,
    });
    expect(response.status).toBe(200);
    const profile = {
      handle: "after_1",
      username: "Zoë 🦊",
      bio: "Sells tea.",
      profileImage: "https://img.example/a.png",
      backgroundImage: "https://img.example/b.png",
      backgroundColour: "#a0b1c2",
      links: ["https://one.example/", "http://two.example/x"],
      returnUrl: "https://shop.example/?a=1#top",
    };
    expect(response.body).toMatchObject({ id: userId, ...profile });
    expect((await rig.call("GET", path, { cookie })).body).toEqual(response.body);
    const events = await rig.readEvents(userId);
    expect(events.map(({ type, topic, data }) => [type, topic, data.version])).toEqual([
      ["account.updated", "accounts.v1", 1],
      ["account.updated", "accounts.v1", 2],
    ]);
    expect(events[1]?.data).toEqual({
      id: userId,
      version: 2,
      dateCreated: "2026-11-21T10:00:00.000Z",
      wallets: [],
      isSuspended: false,
      isVerified: true,
      ...profile,
    });
    expect(await rig.readAudit(userId)).toContain("account.changed");
  });

  test("leaves omitted fields unchanged, and clears nullable fields with null", async () => {
    const { cookie } = await rig.signUp({ username: "Keeps" });
    const links = ["https://one.example/"];
    await patchAccount(cookie, { bio: "b", backgroundColour: "#000000", links });
    const clearedResponse = await patchAccount(cookie, { bio: null, backgroundColour: null });
    expect(clearedResponse.body).toMatchObject({
      username: "Keeps",
      bio: null,
      backgroundColour: null,
      links,
    });
    expect((await patchAccount(cookie, { links: null })).body["links"]).toBeNull();
    await patchAccount(cookie, { returnUrl: "https://shop.example/" });
    const keptResponse = await patchAccount(cookie, { bio: "b" });
    expect(keptResponse.body["returnUrl"]).toBe("https://shop.example/");
    expect((await patchAccount(cookie, { returnUrl: null })).body["returnUrl"]).toBeNull();
  });

  test("neither increments the version nor publishes an event if nothing changes", async () => {
    const { userId, cookie } = await rig.signUp({ handle: "constant", username: "Same" });
    expect((await patchAccount(cookie, { handle: "CONSTANT", username: "Same" })).status).toBe(200);
    expect((await patchAccount(cookie, {})).status).toBe(200);
    expect(await rig.readEvents(userId)).toHaveLength(1);
  });

  test("increments the version by exactly one for each of 20 concurrent changes", async () => {
    const { userId, cookie } = await rig.signUp();
    await Promise.all(
      Array.from({ length: 20 }, (_, index) => patchAccount(cookie, { bio: `bio ${index}` })),
    );
    const versions = (await rig.readEvents(userId)).map(({ data }) => data.version);
    expect(versions).toEqual(Array.from({ length: 21 }, (_, index) => index + 1));
  });

  test.each([
    ["a handle that is a number", "422 string_type", { handle: 1 }],
    ["a null handle", "422 string_type", { handle: null }],
    ["a short handle", "422 INVALID_HANDLE", { handle: "ab" }],
    ["a handle with a dash", "422 INVALID_HANDLE", { handle: "a-b" }],
    ["a reserved handle", "422 INVALID_HANDLE", { handle: "Admin" }],
    ["a handle of 60,000 characters", "422 INVALID_HANDLE", { handle: "a".repeat(60_000) }],
    ["an empty name", "422 string_too_short", { username: "" }],
    ["a name of 101 characters", "422 string_too_long", { username: "é".repeat(101) }],
    ["a null name", "422 string_type", { username: null }],
    ["a bio of 501 characters", "422 string_too_long", { bio: "x".repeat(501) }],
    ["NUL in the bio", "422 string_pattern_mismatch", { bio: "a\0b" }],
    ["half a surrogate in the bio", "422 string_pattern_mismatch", '{"bio":"\\ud800"}'],
    ["a script as image", "422 url_parsing", { profileImage: "javascript:alert(1)" }],
    ["data as image", "422 url_parsing", { backgroundImage: "data:image/png;base64,AA" }],
    ["an image with a password", "422 url_parsing", { profileImage: "https://a:b@c.example/" }],
    [
      "an image URL of 2,049 characters",
      "422 string_too_long",
      { profileImage: `https://a.example/${"x".repeat(2031)}` },
    ],
    ["a named color", "422 string_pattern_mismatch", { backgroundColour: "red" }],
    ["a color followed by CSS", "422 string_pattern_mismatch", { backgroundColour: "#ffffff;x:y" }],
    ["a color with a newline", "422 string_pattern_mismatch", { backgroundColour: "#ffffff\n" }],
    ["eleven links", "422 too_long", { links: Array(11).fill("https://a.example") }],
    ["invalid links", "422 url_parsing url_parsing", { links: ["a", "b"] }],
    ["one invalid link", "422 url_parsing", { links: ["https://a.example", "nope"] }],
    ["a return URL without encryption", "422 url_scheme", { returnUrl: "http://shop.example/" }],
    ["a script as return URL", "422 url_parsing", { returnUrl: "javascript:alert(1)" }],
    ["a return URL with a password", "422 url_parsing", { returnUrl: "https://a:b@c.example/" }],
    ["a relative return URL", "422 url_parsing", { returnUrl: "/thanks" }],
    [
      "a return URL of 2,049 characters",
      "422 string_too_long",
      { returnUrl: `https://a.example/${"x".repeat(2031)}` },
    ],
    ["a string instead of a list of links", "422 list_type", { links: "https://a.example" }],
    ["two errors", "422 string_too_short string_type", { username: "", bio: 5 }],
  ])("given %s, responds %s and changes nothing", async (_name, expected, body) => {
    const { userId, cookie } = await rig.signUp();
    expect(summarizeResponse(await patchAccount(cookie, body))).toBe(expected);
    expect(await rig.readEvents(userId)).toHaveLength(1);
  });

  test("counts lengths in code points, up to the exact limit", async () => {
    const { cookie } = await rig.signUp();
    const response = await patchAccount(cookie, {
      username: "🦊".repeat(100),
      bio: "🦊".repeat(500),
    });
    expect(response.status).toBe(200);
  });
});

describe("a handle (rule CALLER-13)", () => {
  test("belongs to one account, ignoring case", async () => {
    await rig.signUp({ handle: "unique_one" });
    const { cookie, userId } = await rig.signUp({ handle: "unique_two" });
    expect(summarizeResponse(await patchAccount(cookie, { handle: "UNIQUE_one" }))).toBe(
      "409 HANDLE_TAKEN",
    );
    expect(await rig.readEvents(userId)).toHaveLength(1);
  });

  test("stays reserved for an account that once had it, and its owner can reuse it", async () => {
    const owner = await rig.signUp({ handle: "first_name" });
    const otherUser = await rig.signUp({ handle: "rival" });
    await patchAccount(owner.cookie, { handle: "second_name" });
    const claimResponse = await patchAccount(otherUser.cookie, { handle: "first_name" });
    expect(summarizeResponse(claimResponse)).toBe("409 HANDLE_TAKEN");
    const reclaimResponse = await patchAccount(owner.cookie, { handle: "first_name" });
    expect(reclaimResponse.body["handle"]).toBe("first_name");
    const secondClaim = await patchAccount(otherUser.cookie, { handle: "second_name" });
    expect(summarizeResponse(secondClaim)).toBe("409 HANDLE_TAKEN");
  });

  test("goes to exactly one of ten accounts that request it concurrently", async () => {
    const otherUsers = await Promise.all(Array.from({ length: 10 }, () => rig.signUp()));
    const responses = await Promise.all(
      otherUsers.map(({ cookie }) => patchAccount(cookie, { handle: "wanted" })),
    );
    const results = responses.map(summarizeResponse).toSorted();
    expect(results).toEqual(["200", ...Array(9).fill("409 HANDLE_TAKEN")]);
  });

  test("cannot be swapped between two accounts: both concurrent changes fail without a deadlock", async () => {
    const firstUser = await rig.signUp({ handle: "swap_one" });
    const secondUser = await rig.signUp({ handle: "swap_two" });
    const responses = await Promise.all([
      patchAccount(firstUser.cookie, { handle: "swap_two" }),
      patchAccount(secondUser.cookie, { handle: "swap_one" }),
    ]);
    expect(responses.map(summarizeResponse)).toEqual(["409 HANDLE_TAKEN", "409 HANDLE_TAKEN"]);
  });

  test("is one of at most three per account", async () => {
    const { cookie } = await rig.signUp();
    for (let count = 1; count <= 3; count += 1) {
      expect((await patchAccount(cookie, { handle: `hoarder_${count}` })).status).toBe(200);
    }
    const rejected = await patchAccount(cookie, { handle: "hoarder_more" });
    expect(summarizeResponse(rejected)).toBe("409 HANDLE_LIMIT");
    expect((await patchAccount(cookie, { handle: "hoarder_1" })).status).toBe(200);
    // The rejected handle stays available to other accounts.
    const otherUser = await rig.signUp();
    expect((await patchAccount(otherUser.cookie, { handle: "hoarder_more" })).status).toBe(200);
  });

  test("can be reused even by an account that already has more than the limit", async () => {
    const { cookie, userId } = await rig.signUp({ handle: "early_1" });
    for (const handle of ["early_2", "early_3", "early_4"]) {
      await rig.pool.query(sqlVoid`
        INSERT INTO handles (handle, account_id, taken_at) VALUES (${handle}, ${userId}, now())
      `);
    }
    expect((await patchAccount(cookie, { handle: "early_4" })).status).toBe(200);
    expect(summarizeResponse(await patchAccount(cookie, { handle: "early_5" }))).toBe(
      "409 HANDLE_LIMIT",
    );
  });
});
