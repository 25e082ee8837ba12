import { afterAll, beforeAll, describe, expect, test } from "@jest/globals";
import { createOutgoingEvent } from "@payment-links/bus";
import {
  type Account,
  ownerImagesSnapshot,
  ownerImagesUpdated,
  newId,
  buildOwnerImagePath,
} from "@payment-links/contracts";
import { waitUntil } from "@payment-links/runtime/testing";
import { type ImageHost, bytesMax, startImageHost, png } from "../testing/start-image-host.ts";
import { type Rig, createRig } from "../testing/create-rig.ts";
import { createSampleAccount } from "@payment-links/contracts/testing/sample-account";

const fetchMsMax = 5_000;
const fetchesMax = 16;
const minuteMs = 60_000;

let host: ImageHost;
let rig: Rig;
beforeAll(async () => {
  host = await startImageHost();
  const overrides = ["images.test", "cdn.test"].map((name) => `${name}=${host.origin}`);
  rig = await createRig({
    environment: { WEBHOOK_HOST_OVERRIDES: overrides.join(",") },
  });
  await rig.service.start();
});
afterAll(async () => {
  await rig.close();
  host.close();
});

const publishOwner = (owner: Account, event = ownerImagesUpdated, occurredAt = rig.clock.now()) =>
  rig.publish(createOutgoingEvent(event, { key: owner.id, occurredAt, data: owner }));

let imageCount = 0;
/** Creates a URL that has not been requested before. */
const createImageUrl = (path: string): string => `https://images.test${path}?${(imageCount += 1)}`;

/** Publishes an owner with the image. Returns its path on our pages. */
const publishOwnerImage = async (url: string): Promise<string> => {
  const owner = createSampleAccount({ profileImage: url });
  await publishOwner(owner);
  return buildOwnerImagePath(owner.id, url);
};

const fetchImage = async (path: string, headers: Record<string, string> = {}) => {
  const response = await fetch(`${rig.publicUrl}${path}`, { headers });
  return { status: response.status, headers: response.headers, body: await response.bytes() };
};

const countFetches = async (outcome: string): Promise<number> => {
  const text = await rig.metrics.getSingleMetricAsString("payment_links_owner_image_fetches_total");
  const metricPattern = new RegExp(`outcome="${outcome}".*\\} (\\d+)`);
  return Number(metricPattern.exec(text)?.[1] ?? 0);
};

/** Requests an owner's image at the URL. Returns the status, and the fetch outcome that was counted. */
const fetchAndCount = async (url: string, expected: string): Promise<string> => {
  const path = await publishOwnerImage(url);
  const countBefore = await countFetches(expected);
  const { status } = await fetchImage(path);
  return `${status} ${(await countFetches(expected)) === countBefore + 1 ? expected : "something else"}`;
};

describe("GET /checkout/images/:userId/:digest", () => {
  test("returns the owner's image with the type of its bytes and headers that make it harmless", async () => {
    const response = await fetchImage(await publishOwnerImage(createImageUrl("/png")));
    expect([response.status, Buffer.from(response.body)]).toEqual([200, png]);
    expect(response.headers.get("content-type")).toBe("image/png");
    expect(response.headers.get("x-content-type-options")).toBe("nosniff");
    expect(response.headers.get("content-security-policy")).toBe("default-src 'none'; sandbox");
    expect(response.headers.get("cross-origin-resource-policy")).toBe("same-origin");
    expect(response.headers.get("cache-control")).toBe("private, max-age=3600");
  });

  test("sends the host nothing about the visitor, and returns none of the host's other headers (rule API-27)", async () => {
    const url = createImageUrl("/cookie");
    const response = await fetchImage(await publishOwnerImage(url), {
      cookie: "session-webhooks=secret",
      referer: "https://pay.example.com/@alice/pay/plink_1",
      "user-agent": "A payer's browser",
      "accept-language": "de",
      "x-forwarded-for": "198.51.100.7",
      traceparent: "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01",
    });
    expect(response.status).toBe(200);
    expect([response.headers.get("set-cookie"), response.headers.get("x-a")]).toEqual([null, null]);
    const lines = (host.requests.at(-1) ?? "").trim().split("\r\n").toSorted();
    expect(lines).toEqual([
      `GET /cookie${new URL(url).search} HTTP/1.1`,
      "accept-encoding: identity",
      "accept: image/avif,image/webp,image/png,image/jpeg,image/gif",
      "connection: close",
      "host: images.test",
      "user-agent: PaymentLinks-Images/1.0",
    ]);
  });

  test("fetches only the URLs that the owner has set last (rule API-27)", async () => {
    const [firstUrl, secondUrl] = [createImageUrl("/png"), createImageUrl("/png")];
    const owner = createSampleAccount({ profileImage: firstUrl, version: 3 });
    await publishOwner(owner);
    const changedOwner = { ...owner, version: 4, profileImage: null, backgroundImage: secondUrl };
    await publishOwner(changedOwner);
    await publishOwner(owner);
    const requestsBefore = host.requests.length;
    const otherUserId = newId("user");
    for (const path of [
      buildOwnerImagePath(owner.id, firstUrl),
      buildOwnerImagePath(otherUserId, secondUrl),
      buildOwnerImagePath(owner.id, "https://images.test/png"),
      `/checkout/images/${owner.id}/${encodeURIComponent(secondUrl)}`,
      `/checkout/images/${owner.id}/x?url=${encodeURIComponent(secondUrl)}`,
      `/checkout/images/${owner.id}/%00`,
      "/checkout/images/%00/x",
    ]) {
      expect([path, (await fetchImage(path)).status]).toEqual([path, 404]);
    }
    expect(host.requests.length).toBe(requestsBefore);
    expect((await fetchImage(buildOwnerImagePath(owner.id, secondUrl))).status).toBe(200);
  });

  test("shows what a restored auth-keys republishes and publishes since, despite lower versions", async () => {
    const [originalUrl, lostUrl, newUrl] = [
      createImageUrl("/png"),
      createImageUrl("/png"),
      createImageUrl("/png"),
    ];
    const owner = createSampleAccount({ profileImage: originalUrl, version: 4 });
    const fetchStatuses = async () => {
      const paths = [originalUrl, lostUrl, newUrl].map((url) => buildOwnerImagePath(owner.id, url));
      return (await Promise.all(paths.map((path) => fetchImage(path)))).map(({ status }) => status);
    };
    const changedOwner = { ...owner, version: 6, profileImage: lostUrl };
    const lostAt = rig.clock.now();
    await publishOwner(changedOwner);
    rig.clock.advance(minuteMs);
    await publishOwner(owner, ownerImagesSnapshot);
    expect(await fetchStatuses()).toEqual([404, 200, 404]);
    rig.clock.advance(minuteMs + 1);
    await publishOwner(owner, ownerImagesSnapshot);
    expect(await fetchStatuses()).toEqual([200, 404, 404]);
    // A delayed event from before the restore.
    await publishOwner(changedOwner, ownerImagesUpdated, lostAt);
    expect(await fetchStatuses()).toEqual([200, 404, 404]);
    await publishOwner({ ...owner, version: 5, profileImage: newUrl });
    expect(await fetchStatuses()).toEqual([404, 404, 200]);
  });

  test("is rate-limited by the caller's address like the other checkout routes", async () => {
    const { headers } = await fetchImage(await publishOwnerImage(createImageUrl("/png")));
    expect(headers.get("ratelimit-policy")).toMatch(/^"ip";/);
  });
});

describe("an image host", () => {
  test.each([
    "/png",
    "/continued",
    "/largest",
    "/moved",
    "/moved-here",
    "/moved-two",
    "/moved-three",
  ])("that responds with %s provides the image", async (path) => {
    expect(await fetchAndCount(createImageUrl(path), "fetched")).toBe("200 fetched");
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
  ])(
    "that responds with %s affects only its own image: %s (rule API-27)",
    async (path, outcome) => {
      expect(await fetchAndCount(createImageUrl(path), outcome)).toBe(`404 ${outcome}`);
    },
  );

  test.each([
    ["/endless", "too_large"],
    ["/endless-extension", "invalid_answer"],
  ])("that sends an endless image (%s) is disconnected", async (path, outcome) => {
    const sentBefore = host.sentBytes();
    expect(await fetchAndCount(createImageUrl(path), outcome)).toBe(`404 ${outcome}`);
    await waitUntil("the connection has ended", () => host.openCount() === 0);
    // Bytes that are already in kernel buffers on both ends cannot be stopped.
    expect(host.sentBytes() - sentBefore).toBeLessThan(bytesMax + 16 * 1024 * 1024);
  });

  test.each(["/silent", "/half"])(
    "that hangs (%s) occupies a fetch for five seconds at most (rule API-27)",
    async (path) => {
      const countBefore = await countFetches("timeout");
      const requestsBefore = host.requests.length;
      const response = fetchImage(await publishOwnerImage(createImageUrl(path)));
      await waitUntil("the host gets the request", () => host.requests.length > requestsBefore);
      rig.clock.advance(fetchMsMax);
      expect((await response).status).toBe(404);
      expect(await countFetches("timeout")).toBe(countBefore + 1);
    },
  );

  test("has no open connection afterwards in any case", async () => {
    await waitUntil("connections are closed", () => host.openCount() === 0);
  });
});

describe("a fetched image", () => {
  test("is served to everyone for an hour with one request (rule API-27)", async () => {
    const path = await publishOwnerImage(createImageUrl("/png"));
    const requestsBefore = host.requests.length;
    const responses = await Promise.all(Array.from({ length: 20 }, () => fetchImage(path)));
    expect(new Set(responses.map(({ status }) => status))).toEqual(new Set([200]));
    rig.clock.advance(60 * minuteMs - 1);
    await fetchImage(path);
    expect(host.requests.length).toBe(requestsBefore + 1);
    rig.clock.advance(1);
    await fetchImage(path);
    expect(host.requests.length).toBe(requestsBefore + 2);
  });

  test("that failed is not requested again within a minute (rule API-27)", async () => {
    const path = await publishOwnerImage(createImageUrl("/missing"));
    const requestsBefore = host.requests.length;
    await fetchImage(path);
    rig.clock.advance(minuteMs - 1);
    await fetchImage(path);
    expect(host.requests.length).toBe(requestsBefore + 1);
    rig.clock.advance(1);
    await fetchImage(path);
    expect(host.requests.length).toBe(requestsBefore + 2);
  });

  test("is evicted, oldest first, to limit the cache to 32 MiB", async () => {
    const paths: string[] = [];
    for (let index = 0; index < 33; index += 1) {
      const path = await publishOwnerImage(createImageUrl("/largest"));
      expect((await fetchImage(path)).status).toBe(200);
      paths.push(path);
    }
    const requestsBefore = host.requests.length;
    await fetchImage(paths.at(-1) ?? "");
    expect(host.requests.length).toBe(requestsBefore);
    await fetchImage(paths[0] ?? "");
    expect(host.requests.length).toBe(requestsBefore + 1);
  });
});

/** Starts as many fetches as are allowed at the same time, from hanging hosts. */
const occupyAllFetches = async () => {
  const requestsBefore = host.requests.length;
  const paths: string[] = [];
  while (paths.length < fetchesMax) paths.push(await publishOwnerImage(createImageUrl("/silent")));
  const responses = paths.map((path) => fetchImage(path));
  await waitUntil("all fetches start", () => host.requests.length === requestsBefore + fetchesMax);
  return { requestsBefore, responses };
};

test("hanging hosts occupy sixteen fetches at most, and other requests do not wait", async () => {
  const { responses, requestsBefore } = await occupyAllFetches();
  expect(await fetchAndCount(createImageUrl("/png"), "busy")).toBe("404 busy");
  expect(host.requests.length).toBe(requestsBefore + fetchesMax);
  rig.clock.advance(fetchMsMax);
  await Promise.all(responses);
  expect(await fetchAndCount(createImageUrl("/png"), "fetched")).toBe("200 fetched");
});

test("hosts that hang for a second do not block the images of other owners", async () => {
  const { responses } = await occupyAllFetches();
  rig.clock.advance(1_000);
  const otherResults = [
    await fetchAndCount(createImageUrl("/png"), "fetched"),
    await fetchAndCount(createImageUrl("/png"), "fetched"),
  ];
  rig.clock.advance(fetchMsMax);
  await Promise.all(responses);
  expect(otherResults).toEqual(["200 fetched", "200 fetched"]);
});

test("an owner who changes images while the host hangs occupies two fetches and does not block others", async () => {
  const owner = createSampleAccount({});
  const [requestsBefore, busyBefore] = [host.requests.length, await countFetches("busy")];
  const responses: ReturnType<typeof fetchImage>[] = [];
  while (responses.length < fetchesMax) {
    const url = createImageUrl("/silent");
    await publishOwner({
      ...owner,
      version: owner.version + responses.length + 1,
      profileImage: url,
    });
    responses.push(fetchImage(buildOwnerImagePath(owner.id, url)));
    await waitUntil("every image is requested or rejected", async () => {
      const busyCount = (await countFetches("busy")) - busyBefore;
      return host.requests.length - requestsBefore + busyCount === responses.length;
    });
  }
  const ownerFetchCount = host.requests.length - requestsBefore;
  const otherResult = await fetchAndCount(createImageUrl("/png"), "fetched");
  rig.clock.advance(fetchMsMax);
  await Promise.all(responses);
  expect([ownerFetchCount, otherResult]).toEqual([2, "200 fetched"]);
});

test("a stopping service does not wait for a host", async () => {
  const ownRig = await createRig({
    environment: { WEBHOOK_HOST_OVERRIDES: `images.test=${host.origin}` },
  });
  await ownRig.service.start();
  const url = createImageUrl("/silent");
  const owner = createSampleAccount({ profileImage: url });
  await ownRig.publish(
    createOutgoingEvent(ownerImagesUpdated, {
      key: owner.id,
      occurredAt: ownRig.clock.now(),
      data: owner,
    }),
  );
  const requestsBefore = host.requests.length;
  const response = fetch(`${ownRig.publicUrl}${buildOwnerImagePath(owner.id, url)}`);
  await waitUntil("the host gets the request", () => host.requests.length > requestsBefore);
  await ownRig.service.stop();
  expect((await response).status).toBe(404);
  await ownRig.close();
});
