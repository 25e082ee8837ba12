import { createHash, generateKeyPairSync, sign } from "node:crypto";
import { describe, expect, test } from "@jest/globals";
import { generateApiKey } from "@payment-links/contracts";
import { useRig } from "@payment-links/runtime/testing/use-rig";
import { createRig, summarizeResponse } from "../testing/create-rig.ts";

const path = "/internal/leaked-keys";
const scannerKeyPair = generateKeyPairSync("ec", { namedCurve: "prime256v1" });
const otherKeyPair = generateKeyPairSync("ec", { namedCurve: "prime256v1" });
const leakedKeysPublicKeys = new Map([["known", scannerKeyPair.publicKey]]);

const rig = useRig(() => createRig({ leakedKeysPublicKeys }));

const createAccountWithKey = async () => {
  const { userId, cookie } = await rig.signUp();
  const body = { name: "shop", scopes: ["payment_link:read"] };
  const createResponse = await rig.call("POST", "/console/api/api-keys", { cookie, body });
  return {
    userId,
    cookie,
    key: String(createResponse.body["key"]),
    id: String(createResponse.body["id"]),
  };
};

type Report = { token: string; type?: string; url?: string; source?: string };

const sendReports = (
  reports: readonly Report[],
  {
    privateKey = scannerKeyPair.privateKey,
    identifier = "known",
    tamper = (payload: string) => payload,
  } = {},
) => {
  const payload = JSON.stringify(reports.map((report) => ({ type: "payment_links", ...report })));
  const signature = sign("sha256", Buffer.from(payload), privateKey).toString("base64");
  const headers = {
    "content-type": "application/json",
    "github-public-key-identifier": identifier,
    "github-public-key-signature": signature,
  };
  return rig.call("POST", path, { body: tamper(payload), headers });
};

const hashText = (payload: string) => createHash("sha256").update(payload).digest("base64");
const isKeyActive = async (key: string) => (await rig.introspect("api-key", key))["found"];

describe("POST /internal/leaked-keys", () => {
  test("deactivates each key, shows its owner where it was found, and reports to the scanner which keys were ours (rule CALLER-18)", async () => {
    const { userId, cookie, key, id } = await createAccountWithKey();
    const unknownKey = generateApiKey("live");
    const url = "https://github.com/a/b/blob/main/.env";
    const response = await sendReports([
      { token: key, url, source: "content" },
      { token: unknownKey },
    ]);
    expect(response.status).toBe(200);
    expect(JSON.parse(response.text)).toEqual([
      { token_hash: hashText(key), token_type: "payment_links", label: "true_positive" },
      { token_hash: hashText(unknownKey), token_type: "payment_links", label: "false_positive" },
    ]);
    expect(response.text).not.toContain(key);
    expect(await isKeyActive(key)).toBe(false);

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

  test("deactivates keys even if their location contains characters that cannot be stored", async () => {
    const [firstKey, secondKey] = [await createAccountWithKey(), await createAccountWithKey()];
    // The emoji has two UTF-16 code units. Only one of them fits.
    const url = `https://h/${"a".repeat(2_037)}🙂`;
    const response = await sendReports([
      { token: firstKey.key, url, source: "\0half \ud83d" },
      { token: secondKey.key, url },
    ]);
    expect(response.status).toBe(200);
    expect([await isKeyActive(firstKey.key), await isKeyActive(secondKey.key)]).toEqual([
      false,
      false,
    ]);
    const log = await rig.call("GET", "/console/api/audit-log", { cookie: firstKey.cookie });
    const [entry] = log.body["data"] as object[];
    expect(entry).toMatchObject({
      detail: { url: `${url.slice(0, 2_047)}\ufffd`, source: "half \ufffd" },
    });
  });

  test("recognizes an inactive or repeatedly reported key without another change", async () => {
    const { userId, key } = await createAccountWithKey();
    for (let count = 0; count < 2; count += 1) {
      expect((await sendReports([{ token: key }])).text).toContain("true_positive");
    }
    const leakedActions = (await rig.readAudit(userId)).filter(
      (action) => action === "api_key.leaked",
    );
    expect(leakedActions).toHaveLength(1);
  });

  test("rejects reports that a known key did not sign over exactly these bytes (rule CALLER-18)", async () => {
    const { key } = await createAccountWithKey();
    const reports = [{ token: key }];
    for (const forgedOptions of [
      { privateKey: otherKeyPair.privateKey },
      { identifier: "unknown" },
      { tamper: (payload: string) => `${payload} ` },
    ]) {
      expect(summarizeResponse(await sendReports(reports, forgedOptions))).toBe(
        "401 INVALID_SIGNATURE",
      );
    }
    const unsignedResponse = await rig.call("POST", path, { body: JSON.stringify(reports) });
    expect(summarizeResponse(unsignedResponse)).toBe("401 INVALID_SIGNATURE");
    expect(await isKeyActive(key)).toBe(true);
  });

  test("responds 422 to a body that is not a list of findings", async () => {
    const response = await sendReports([], { tamper: (payload) => payload });
    expect([response.status, response.text]).toEqual([200, "[]"]);
    const payload = "{}";
    const signature = sign("sha256", Buffer.from(payload), scannerKeyPair.privateKey).toString(
      "base64",
    );
    const headers = {
      "github-public-key-identifier": "known",
      "github-public-key-signature": signature,
    };
    const rejected = await rig.call("POST", path, { body: payload, headers });
    expect(summarizeResponse(rejected)).toBe("422 list_type");
  });
});

test("POST /internal/leaked-keys does not exist without scanners' public keys", async () => {
  const ownRig = await createRig();
  try {
    expect(summarizeResponse(await ownRig.call("POST", path, { body: "[]" }))).toBe(
      "404 NOT_FOUND",
    );
  } finally {
    await ownRig.close();
  }
});
