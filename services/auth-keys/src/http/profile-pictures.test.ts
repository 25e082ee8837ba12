import { createHash } from "node:crypto";
import { once } from "node:events";
import { type ClientRequest, type IncomingMessage, request } from "node:http";
import { expect, describe, test } from "@jest/globals";
import sharp from "sharp";
import { sql } from "slonik";
import * as z from "zod";
import { topics } from "@payment-links/contracts";
import { waitUntil } from "@payment-links/runtime/testing";
import { useRig } from "@payment-links/runtime/testing/use-rig";
import { createRig, summarizeResponse } from "../testing/create-rig.ts";
import { buildPng } from "../testing/image-files.ts";

const rig = useRig(createRig);
const path = "/console/api/account/picture";
const bytesMax = 2 * 1024 * 1024;

const createPng = (color: string) =>
  sharp({ create: { width: 40, height: 30, channels: 3, background: color } })
    .png()
    .toBuffer();

const upload = (cookie: string, file: Buffer) => rig.call("POST", path, { cookie, body: file });

/** Uploads an image and returns the path of the account's picture. */
const uploadPicture = async (cookie: string, file: Buffer): Promise<string> => {
  const { body, status } = await upload(cookie, file);
  expect(status).toBe(200);
  return new URL(String(body["profileImage"])).pathname;
};

const fetchPicture = (picturePath: string) => fetch(`${rig.publicUrl}${picturePath}`);
const countPictures = (accountId: string) =>
  rig.pool.oneFirst(sql.type(z.object({ count: z.int() }))`
    SELECT count(*)::int AS count FROM profile_pictures WHERE account_id = ${accountId}
  `);

/** Starts an upload whose body does not end. */
const startUpload = (cookie: string): ClientRequest => {
  const { hostname, port } = new URL(rig.publicUrl);
  const headers = { cookie, "content-length": "1000" };
  const openUpload = request({ hostname, port, path, method: "POST", headers });
  openUpload.on("error", () => {});
  openUpload.write("x");
  return openUpload;
};

/**
 * Starts two uploads of an account, and waits until one of them is rejected. The service then
 * handles the other one. Returns the response and a function that ends both.
 */
const holdUpload = async (cookie: string) => {
  const uploads = [startUpload(cookie), startUpload(cookie)];
  const [response] = (await Promise.race(
    uploads.map((openUpload) => once(openUpload, "response")),
  )) as [IncomingMessage];
  const end = () => uploads.forEach((openUpload) => openUpload.destroy());
  return { response, end };
};

describe("POST /console/api/account/picture", () => {
  test("makes the image the account's profile image, under the digest of its bytes (rule CALLER-46)", async () => {
    const { userId, cookie } = await rig.signUp();
    const { body, status } = await upload(cookie, await createPng("red"));
    expect(status).toBe(200);
    const url = new URL(String(body["profileImage"]));
    expect(url.origin).toBe(new URL(rig.context.checkoutUrl).origin);
    const response = await fetchPicture(url.pathname);
    const bytes = Buffer.from(await response.arrayBuffer());
    const digest = createHash("sha256").update(bytes).digest("hex");
    expect(url.pathname).toBe(`/checkout/pictures/${digest}`);
    expect(Object.fromEntries(response.headers)).toMatchObject({
      "cache-control": "private, max-age=31536000, immutable",
      "content-length": String(bytes.length),
      "content-security-policy": "default-src 'none'; sandbox",
      "content-type": "image/webp",
      "cross-origin-resource-policy": "cross-origin",
      "x-content-type-options": "nosniff",
    });
    const { format, width, height } = await sharp(bytes).metadata();
    expect([format, width, height]).toEqual(["webp", 256, 256]);
    const { body: account } = await rig.call("GET", "/console/api/account", { cookie });
    expect(account["profileImage"]).toBe(url.href);
    for (const topic of [topics.accounts, topics.ownerImages]) {
      const events = await rig.readEvents(userId, topic);
      expect(events.at(-1)?.data).toMatchObject({ version: 2, profileImage: url.href });
    }
    expect(await rig.readAudit(userId)).toContain("account.changed");
  });

  test("deletes the previous picture, and changes nothing for the same image (rule CALLER-46)", async () => {
    const { userId, cookie } = await rig.signUp();
    const firstPath = await uploadPicture(cookie, await createPng("green"));
    const secondPath = await uploadPicture(cookie, await createPng("blue"));
    expect((await fetchPicture(firstPath)).status).toBe(404);
    expect((await fetchPicture(secondPath)).status).toBe(200);
    expect(await uploadPicture(cookie, await createPng("blue"))).toBe(secondPath);
    expect(await rig.readEvents(userId)).toHaveLength(3);
    expect(await countPictures(userId)).toBe(1);
  });

  test.each([
    ["removed", null],
    ["replaced by a URL", "https://images.example/a.png"],
  ])("its picture is deleted when it is %s (rule CALLER-46)", async (_name, profileImage) => {
    const { userId, cookie } = await rig.signUp();
    const picturePath = await uploadPicture(cookie, await createPng("yellow"));
    const bioChange = { cookie, body: { bio: "Tea" } };
    expect((await rig.call("PATCH", "/console/api/account", bioChange)).status).toBe(200);
    expect((await fetchPicture(picturePath)).status).toBe(200);
    const imageChange = { cookie, body: { profileImage } };
    expect((await rig.call("PATCH", "/console/api/account", imageChange)).status).toBe(200);
    expect((await fetchPicture(picturePath)).status).toBe(404);
    expect(await countPictures(userId)).toBe(0);
  });

  test("an account's picture stays if another account with the same one removes it", async () => {
    const [first, second] = [await rig.signUp(), await rig.signUp()];
    const picturePath = await uploadPicture(first.cookie, await createPng("purple"));
    expect(await uploadPicture(second.cookie, await createPng("purple"))).toBe(picturePath);
    const change = { cookie: first.cookie, body: { profileImage: null } };
    await rig.call("PATCH", "/console/api/account", change);
    expect((await fetchPicture(picturePath)).status).toBe(200);
  });

  test("a picture is deleted with its account", async () => {
    const { userId, cookie } = await rig.signUp();
    await uploadPicture(cookie, await createPng("orange"));
    const constraint = await rig.pool.oneFirst(sql.type(z.object({ action: z.string() }))`
      SELECT confdeltype AS action FROM pg_constraint
      WHERE conrelid = 'profile_pictures'::regclass AND contype = 'f'
    `);
    expect([constraint, await countPictures(userId)]).toEqual(["c", 1]);
  });

  test.each([
    ["no bytes", Buffer.alloc(0), "422 INVALID_IMAGE"],
    ["SVG", Buffer.from('<svg xmlns="http://www.w3.org/2000/svg"/>'), "422 INVALID_IMAGE"],
    [
      "too many pixels",
      buildPng(30_000, 30_000, { rows: Buffer.alloc(9) }),
      "422 IMAGE_TOO_MANY_PIXELS",
    ],
    ["2 MiB that are no image", Buffer.alloc(bytesMax, "x"), "422 INVALID_IMAGE"],
    ["one byte above 2 MiB", Buffer.alloc(bytesMax + 1), "413 PAYLOAD_TOO_LARGE"],
  ])("rejects %s and changes nothing (rule CALLER-46)", async (_name, file, expected) => {
    const { userId, cookie } = await rig.signUp();
    const picturePath = await uploadPicture(cookie, await createPng("red"));
    expect(summarizeResponse(await upload(cookie, file))).toBe(expected);
    expect((await fetchPicture(picturePath)).status).toBe(200);
    expect(await rig.readEvents(userId)).toHaveLength(2);
  });

  test("accepts a file of 2 MiB, whatever content type and name it claims to have (rule CALLER-46)", async () => {
    const { cookie } = await rig.signUp();
    const image = await createPng("red");
    const file = Buffer.concat([image, Buffer.alloc(bytesMax - image.length)]);
    const headers = { "content-type": "text/html" };
    expect((await rig.call("POST", path, { cookie, headers, body: file })).status).toBe(200);
  });

  test("rejects a second upload of an account, and a ninth in this process, until one ends (rule CALLER-46)", async () => {
    const heldUploads: Awaited<ReturnType<typeof holdUpload>>[] = [];
    for (let count = 0; count < 8; count += 1) {
      heldUploads.push(await holdUpload((await rig.signUp()).cookie));
    }
    for (const { response } of heldUploads) {
      expect([response.statusCode, response.headers["retry-after"]]).toEqual([429, "2"]);
    }
    const { cookie } = await rig.signUp();
    const image = await createPng("red");
    const rejection = await upload(cookie, image);
    expect([rejection.status, rejection.headers.get("retry-after")]).toEqual([429, "2"]);
    heldUploads[0]?.end();
    await waitUntil("another upload is accepted", async () => {
      return (await upload(cookie, image)).status === 200;
    });
    for (const { end } of heldUploads) end();
  });

  test("is limited per account (rule API-21)", async () => {
    const limitedRig = await createRig({ ipBurst: 200 });
    try {
      const { cookie } = await limitedRig.signUp();
      const statuses: number[] = [];
      for (let count = 0; count < 5; count += 1) {
        const body = Buffer.from("x");
        statuses.push((await limitedRig.call("POST", path, { cookie, body })).status);
      }
      expect(statuses).toEqual([422, 422, 422, 422, 429]);
    } finally {
      await limitedRig.close();
    }
  });
});

describe("GET /checkout/pictures/:digest", () => {
  test.each(["0".repeat(64), "0".repeat(63), "A".repeat(64), "%00", "x"])(
    "%s is 404",
    async (digest) => {
      expect((await fetchPicture(`/checkout/pictures/${digest}`)).status).toBe(404);
    },
  );
});
