import { afterAll, beforeAll, describe, expect, test } from "@jest/globals";
import { outgoing } from "@payment-links/bus";
import {
  type Account,
  ownerImagesSnapshot,
  ownerImagesUpdated,
  newId,
  ownerImagePath,
} from "@payment-links/contracts";
import { waitUntil } from "@payment-links/runtime/testing";
import { type ImageHost, bytesMax, openImageHost, png } from "../testing/open-image-host.ts";
import { type Rig, openRig } from "../testing/open-rig.ts";
import { sampleAccount } from "@payment-links/contracts/testing/sample-account";

const fetchMsMax = 5_000;
const fetchesMax = 16;
const minuteMs = 60_000;

let host: ImageHost;
let rig: Rig;
beforeAll(async () => {
  host = await openImageHost();
  const overrides = ["images.test", "cdn.test"].map((name) => `${name}=${host.origin}`);
  rig = await openRig({
    environment: { WEBHOOK_HOST_OVERRIDES: overrides.join(",") },
  });
  await rig.service.start();
});
afterAll(async () => {
  await rig.close();
  host.close();
});

const tell = (owner: Account, event = ownerImagesUpdated, occurredAt = rig.clock.now()) =>
  rig.tell(outgoing(event, { key: owner.id, occurredAt, data: owner }));

let images = 0;
/** A URL that nobody has asked for. */
const fresh = (path: string): string => `https://images.test${path}?${(images += 1)}`;

/** An owner with that image; answers where our pages show it. */
const place = async (url: string): Promise<string> => {
  const owner = sampleAccount({ profileImage: url });
  await tell(owner);
  return ownerImagePath(owner.id, url);
};

const look = async (path: string, headers: Record<string, string> = {}) => {
  const answer = await fetch(`${rig.publicUrl}${path}`, { headers });
  return { status: answer.status, headers: answer.headers, body: await answer.bytes() };
};

const countOf = async (outcome: string): Promise<number> => {
  const text = await rig.metrics.getSingleMetricAsString("payment_links_owner_image_fetches_total");
  const form = new RegExp(`outcome="${outcome}".*\\} (\\d+)`);
  return Number(form.exec(text)?.[1] ?? 0);
};

/** Looks at an owner's image at that URL; answers the status, and what was counted. */
const judge = async (url: string, expected: string): Promise<string> => {
  const path = await place(url);
  const before = await countOf(expected);
  const { status } = await look(path);
  return `${status} ${(await countOf(expected)) === before + 1 ? expected : "something else"}`;
};

describe("GET /checkout/images/:userId/:digest", () => {
  test("hands on an image of the owner, by the type of its bytes, so that it can do nothing", async () => {
    const answer = await look(await place(fresh("/png")));
    expect([answer.status, Buffer.from(answer.body)]).toEqual([200, png]);
    expect(answer.headers.get("content-type")).toBe("image/png");
    expect(answer.headers.get("x-content-type-options")).toBe("nosniff");
    expect(answer.headers.get("content-security-policy")).toBe("default-src 'none'; sandbox");
    expect(answer.headers.get("cross-origin-resource-policy")).toBe("same-origin");
    expect(answer.headers.get("cache-control")).toBe("private, max-age=3600");
  });

  test("tells the host nothing of who asked, and them nothing of what else it said (rule API-27)", async () => {
    const url = fresh("/cookie");
    const answer = await look(await place(url), {
      cookie: "session-webhooks=secret",
      referer: "https://pay.example.com/@alice/pay/plink_1",
      "user-agent": "A payer's browser",
      "accept-language": "de",
      "x-forwarded-for": "198.51.100.7",
      traceparent: "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01",
    });
    expect(answer.status).toBe(200);
    expect([answer.headers.get("set-cookie"), answer.headers.get("x-a")]).toEqual([null, null]);
    const lines = (host.asked.at(-1) ?? "").trim().split("\r\n").toSorted();
    expect(lines).toEqual([
      `GET /cookie${new URL(url).search} HTTP/1.1`,
      "accept-encoding: identity",
      "accept: image/avif,image/webp,image/png,image/jpeg,image/gif",
      "connection: close",
      "host: images.test",
      "user-agent: PaymentLinks-Images/1.0",
    ]);
  });

  test("is no way to any URL but those that the owner has set, and has set last (rule API-27)", async () => {
    const [first, second] = [fresh("/png"), fresh("/png")];
    const owner = sampleAccount({ profileImage: first, version: 3 });
    await tell(owner);
    const changed = { ...owner, version: 4, profileImage: null, backgroundImage: second };
    await tell(changed);
    await tell(owner);
    const askedBefore = host.asked.length;
    const other = newId("user");
    for (const path of [
      ownerImagePath(owner.id, first),
      ownerImagePath(other, second),
      ownerImagePath(owner.id, "https://images.test/png"),
      `/checkout/images/${owner.id}/${encodeURIComponent(second)}`,
      `/checkout/images/${owner.id}/x?url=${encodeURIComponent(second)}`,
      `/checkout/images/${owner.id}/%00`,
      "/checkout/images/%00/x",
    ]) {
      expect([path, (await look(path)).status]).toEqual([path, 404]);
    }
    expect(host.asked.length).toBe(askedBefore);
    expect((await look(ownerImagePath(owner.id, second))).status).toBe(200);
  });

  test("shows what a restored auth-keys tells again, and what it tells since, though the versions are lower", async () => {
    const [before, lost, since] = [fresh("/png"), fresh("/png"), fresh("/png")];
    const owner = sampleAccount({ profileImage: before, version: 4 });
    const show = async () => {
      const paths = [before, lost, since].map((url) => ownerImagePath(owner.id, url));
      return (await Promise.all(paths.map((path) => look(path)))).map(({ status }) => status);
    };
    const changed = { ...owner, version: 6, profileImage: lost };
    const lostAt = rig.clock.now();
    await tell(changed);
    rig.clock.advance(minuteMs);
    await tell(owner, ownerImagesSnapshot);
    expect(await show()).toEqual([404, 200, 404]);
    rig.clock.advance(minuteMs + 1);
    await tell(owner, ownerImagesSnapshot);
    expect(await show()).toEqual([200, 404, 404]);
    // What the lost timeline told comes again.
    await tell(changed, ownerImagesUpdated, lostAt);
    expect(await show()).toEqual([200, 404, 404]);
    await tell({ ...owner, version: 5, profileImage: since });
    expect(await show()).toEqual([404, 404, 200]);
  });

  test("is charged to the caller's address as the other checkout routes are", async () => {
    const { headers } = await look(await place(fresh("/png")));
    expect(headers.get("ratelimit-policy")).toMatch(/^"ip";/);
  });
});

describe("a host of images", () => {
  test.each([
    "/png",
    "/continued",
    "/largest",
    "/moved",
    "/moved-here",
    "/moved-two",
    "/moved-three",
  ])("that answers %s is believed", async (path) => {
    expect(await judge(fresh(path), "fetched")).toBe("200 fetched");
  });

  test.each([
    ["/too-large", "too_large"],
    ["/says-too-large", "too_large"],
    ["/svg.png", "wrong_type"],
    ["/html.png", "wrong_type"],
    ["/empty", "wrong_type"],
    ["/bomb", "encoded"],
    ["/missing", "status"],
    ["/nowhere", "status"],
    ["/cut", "invalid_answer"],
    ["/closed", "closed"],
    ["/garbage", "invalid_answer"],
    ["/many-headers", "invalid_answer"],
    ["/moved-four", "redirects"],
    ["/loop", "redirects"],
  ])("that answers %s costs the page its image alone: %s (rule API-27)", async (path, outcome) => {
    expect(await judge(fresh(path), outcome)).toBe(`404 ${outcome}`);
  });

  test.each([
    ["/endless", "too_large"],
    ["/endless-extension", "invalid_answer"],
  ])("that never ends its image (%s) is left", async (path, outcome) => {
    const sentBefore = host.sentBytes();
    expect(await judge(fresh(path), outcome)).toBe(`404 ${outcome}`);
    await waitUntil("its connection has ended", () => host.openCount() === 0);
    // What the kernels on both ends had already taken cannot be stopped.
    expect(host.sentBytes() - sentBefore).toBeLessThan(bytesMax + 16 * 1024 * 1024);
  });

  test.each(["/silent", "/half"])(
    "that hangs (%s) costs five seconds and no more (rule API-27)",
    async (path) => {
      const before = await countOf("timeout");
      const askedBefore = host.asked.length;
      const answer = look(await place(fresh(path)));
      await waitUntil("it is asked", () => host.asked.length > askedBefore);
      rig.clock.advance(fetchMsMax);
      expect((await answer).status).toBe(404);
      expect(await countOf("timeout")).toBe(before + 1);
    },
  );

  test("keeps no connection with us, whatever it did", async () => {
    await waitUntil("connections are closed", () => host.openCount() === 0);
  });
});

describe("what was fetched", () => {
  test("serves everybody for an hour, by one call (rule API-27)", async () => {
    const path = await place(fresh("/png"));
    const askedBefore = host.asked.length;
    const answers = await Promise.all(Array.from({ length: 20 }, () => look(path)));
    expect(new Set(answers.map(({ status }) => status))).toEqual(new Set([200]));
    rig.clock.advance(60 * minuteMs - 1);
    await look(path);
    expect(host.asked.length).toBe(askedBefore + 1);
    rig.clock.advance(1);
    await look(path);
    expect(host.asked.length).toBe(askedBefore + 2);
  });

  test("in vain is not asked for again within a minute (rule API-27)", async () => {
    const path = await place(fresh("/missing"));
    const askedBefore = host.asked.length;
    await look(path);
    rig.clock.advance(minuteMs - 1);
    await look(path);
    expect(host.asked.length).toBe(askedBefore + 1);
    rig.clock.advance(1);
    await look(path);
    expect(host.asked.length).toBe(askedBefore + 2);
  });

  test("never takes more memory than 32 MiB: the oldest is asked for again", async () => {
    const paths: string[] = [];
    for (let made = 0; made < 33; made += 1) {
      const path = await place(fresh("/largest"));
      expect((await look(path)).status).toBe(200);
      paths.push(path);
    }
    const askedBefore = host.asked.length;
    await look(paths.at(-1) ?? "");
    expect(host.asked.length).toBe(askedBefore);
    await look(paths[0] ?? "");
    expect(host.asked.length).toBe(askedBefore + 1);
  });
});

/** Looks at as many images as may be fetched at the same time, whose hosts hang. */
const hangAll = async () => {
  const askedBefore = host.asked.length;
  const paths: string[] = [];
  while (paths.length < fetchesMax) paths.push(await place(fresh("/silent")));
  const answers = paths.map((path) => look(path));
  await waitUntil("all are asked", () => host.asked.length === askedBefore + fetchesMax);
  return { askedBefore, answers };
};

test("hosts that hang hold sixteen calls and no more, and those who look wait for none beyond", async () => {
  const { answers, askedBefore } = await hangAll();
  expect(await judge(fresh("/png"), "busy")).toBe("404 busy");
  expect(host.asked.length).toBe(askedBefore + fetchesMax);
  rig.clock.advance(fetchMsMax);
  await Promise.all(answers);
  expect(await judge(fresh("/png"), "fetched")).toBe("200 fetched");
});

test("hosts that hang for a second keep nobody else's image away", async () => {
  const { answers } = await hangAll();
  rig.clock.advance(1_000);
  const others = [await judge(fresh("/png"), "fetched"), await judge(fresh("/png"), "fetched")];
  rig.clock.advance(fetchMsMax);
  await Promise.all(answers);
  expect(others).toEqual(["200 fetched", "200 fetched"]);
});

test("an owner who changes images while their host hangs holds two calls, and keeps no other's away", async () => {
  const owner = sampleAccount({});
  const [askedBefore, busyBefore] = [host.asked.length, await countOf("busy")];
  const answers: ReturnType<typeof look>[] = [];
  while (answers.length < fetchesMax) {
    const url = fresh("/silent");
    await tell({ ...owner, version: owner.version + answers.length + 1, profileImage: url });
    answers.push(look(ownerImagePath(owner.id, url)));
    await waitUntil("it is asked for or not", async () => {
      const busyCount = (await countOf("busy")) - busyBefore;
      return host.asked.length - askedBefore + busyCount === answers.length;
    });
  }
  const heldCount = host.asked.length - askedBefore;
  const ofAnother = await judge(fresh("/png"), "fetched");
  rig.clock.advance(fetchMsMax);
  await Promise.all(answers);
  expect([heldCount, ofAnother]).toEqual([2, "200 fetched"]);
});

test("a service that stops waits for no host", async () => {
  const own = await openRig({
    environment: { WEBHOOK_HOST_OVERRIDES: `images.test=${host.origin}` },
  });
  await own.service.start();
  const url = fresh("/silent");
  const owner = sampleAccount({ profileImage: url });
  await own.tell(
    outgoing(ownerImagesUpdated, { key: owner.id, occurredAt: own.clock.now(), data: owner }),
  );
  const askedBefore = host.asked.length;
  const answer = fetch(`${own.publicUrl}${ownerImagePath(owner.id, url)}`);
  await waitUntil("it is asked", () => host.asked.length > askedBefore);
  await own.service.stop();
  expect((await answer).status).toBe(404);
  await own.close();
});
