import { createHash, generateKeyPairSync, sign } from "node:crypto";
import { describe, expect, test } from "@jest/globals";
import { mintApiKey } from "@payment-links/contracts";
import { useRig } from "@payment-links/runtime/testing/use-rig";
import { openRig, refusalOf } from "../testing/open-rig.ts";

const path = "/internal/leaked-keys";
const scanner = generateKeyPairSync("ec", { namedCurve: "prime256v1" });
const other = generateKeyPairSync("ec", { namedCurve: "prime256v1" });
const leakedKeysPublicKeys = new Map([["known", scanner.publicKey]]);

const rig = useRig(() => openRig({ leakedKeysPublicKeys }));

const makeKey = async () => {
  const { userId, cookie } = await rig.signUp();
  const body = { name: "shop", scopes: ["payment_link:read"] };
  const made = await rig.call("POST", "/console/api/api-keys", { cookie, body });
  return { userId, cookie, key: String(made.body["key"]), id: String(made.body["id"]) };
};

type Report = { token: string; type?: string; url?: string; source?: string };

const tell = (
  reports: readonly Report[],
  { by = scanner.privateKey, identifier = "known", changed = (text: string) => text } = {},
) => {
  const text = JSON.stringify(reports.map((report) => ({ type: "payment_links", ...report })));
  const signature = sign("sha256", Buffer.from(text), by).toString("base64");
  const headers = {
    "content-type": "application/json",
    "github-public-key-identifier": identifier,
    "github-public-key-signature": signature,
  };
  return rig.call("POST", path, { body: changed(text), headers });
};

const hashOf = (text: string) => createHash("sha256").update(text).digest("base64");
const worksStill = async (key: string) => (await rig.introspect("api-key", key))["found"];

describe("POST /internal/leaked-keys", () => {
  test("switches each key off, tells the owner where it lay, and the scanner which were ours (rule CALLER-18)", async () => {
    const { userId, cookie, key, id } = await makeKey();
    const strange = mintApiKey("live");
    const url = "https://github.com/a/b/blob/main/.env";
    const answer = await tell([{ token: key, url, source: "content" }, { token: strange }]);
    expect(answer.status).toBe(200);
    expect(JSON.parse(answer.text)).toEqual([
      { token_hash: hashOf(key), token_type: "payment_links", label: "true_positive" },
      { token_hash: hashOf(strange), token_type: "payment_links", label: "false_positive" },
    ]);
    expect(answer.text).not.toContain(key);
    expect(await worksStill(key)).toBe(false);

    expect((await rig.readAudit(userId)).at(-1)).toBe("api_key.leaked");
    const log = await rig.call("GET", "/console/api/audit-log", { cookie });
    const [entry] = log.body["data"] as object[];
    expect(entry).toMatchObject({
      action: "api_key.leaked",
      actor: { kind: "scanner", id: null },
      targetId: id,
      detail: { url, source: "content" },
    });
    expect(log.text).not.toContain(key);
  });

  test("switches keys off wherever they lay, also where no log can keep the place as it is", async () => {
    const [one, two] = [await makeKey(), await makeKey()];
    // The face is two halves, of which the place has room for one.
    const url = `https://h/${"a".repeat(2_037)}🙂`;
    const answer = await tell([
      { token: one.key, url, source: "\0half \ud83d" },
      { token: two.key, url },
    ]);
    expect(answer.status).toBe(200);
    expect([await worksStill(one.key), await worksStill(two.key)]).toEqual([false, false]);
    const log = await rig.call("GET", "/console/api/audit-log", { cookie: one.cookie });
    const [entry] = log.body["data"] as object[];
    expect(entry).toMatchObject({
      detail: { url: `${url.slice(0, 2_047)}\ufffd`, source: "half \ufffd" },
    });
  });

  test("told again, or of a key that is off, changes nothing and still knows it", async () => {
    const { userId, key } = await makeKey();
    for (let count = 0; count < 2; count += 1) {
      expect((await tell([{ token: key }])).text).toContain("true_positive");
    }
    const leaked = (await rig.readAudit(userId)).filter((action) => action === "api_key.leaked");
    expect(leaked).toHaveLength(1);
  });

  test("believes nothing that is not signed by a known key over these very bytes (rule CALLER-18)", async () => {
    const { key } = await makeKey();
    const reports = [{ token: key }];
    for (const forged of [
      { by: other.privateKey },
      { identifier: "unknown" },
      { changed: (text: string) => `${text} ` },
    ]) {
      expect(refusalOf(await tell(reports, forged))).toBe("401 INVALID_SIGNATURE");
    }
    const bare = await rig.call("POST", path, { body: JSON.stringify(reports) });
    expect(refusalOf(bare)).toBe("401 INVALID_SIGNATURE");
    expect(await worksStill(key)).toBe(true);
  });

  test("given something else than a list of findings, answers 422", async () => {
    const answer = await tell([], { changed: (text) => text });
    expect([answer.status, answer.text]).toEqual([200, "[]"]);
    const text = "{}";
    const signature = sign("sha256", Buffer.from(text), scanner.privateKey).toString("base64");
    const headers = {
      "github-public-key-identifier": "known",
      "github-public-key-signature": signature,
    };
    const refused = await rig.call("POST", path, { body: text, headers });
    expect(refusalOf(refused)).toBe("422 list_type");
  });
});

test("without public keys there is no such call", async () => {
  const own = await openRig();
  try {
    expect(refusalOf(await own.call("POST", path, { body: "[]" }))).toBe("404 NOT_FOUND");
  } finally {
    await own.close();
  }
});
