import { afterAll, beforeAll, describe, expect, test } from "@jest/globals";
import { type Rig, openRig } from "../testing/open-rig.ts";
import { sampleAccount } from "../testing/samples.ts";

/* A refusal is not a failure: what somebody is refused must not cost the pool a connection. */

const links = "/console/api/payment-links";
const order = '{"toAmount":"5"}';
const sessionsMax = 5;

let rig: Rig;
let session: Record<string, string>;
let inactiveId: string;

beforeAll(async () => {
  rig = await openRig();
  session = rig.giveSession(sampleAccount());
  const headers = { ...session, "idempotency-key": "used" };
  const made = await rig.call(links, { method: "POST", headers, body: order });
  inactiveId = made.json.id;
  await rig.call(`${links}/${inactiveId}/deactivate`, { method: "POST", headers });
});
afterAll(() => rig.close());

const refused: readonly [call: string, answer: string, body: string | undefined, key: string][] = [
  ["GET ?offset=x", "422 int_parsing", undefined, ""],
  ["POST ", "422 missing", "{}", ""],
  ["POST ", "422 missing", "{}", "unused"],
  ["POST ", "422 IDEMPOTENCY_KEY_REUSED", '{"toAmount":"6"}', "used"],
  ["GET /none", "404 NOT_FOUND", undefined, ""],
  ["GET /none/payments", "404 NOT_FOUND", undefined, ""],
  ["POST /none/deactivate", "404 NOT_FOUND", undefined, ""],
  ["POST /inactive/deactivate", "409 PAYMENT_LINK_NOT_ACTIVE", undefined, ""],
];

describe("200 refusals", () => {
  test.each(refused)("of %s by %s cost the pool no connection", async (line, told, body, key) => {
    const [method = "", path = ""] = line.split(" ");
    const at = `${links}${path.replace("inactive", inactiveId)}`;
    const headers = { ...session, ...(key === "" ? {} : { "idempotency-key": key }) };
    const begun = await rig.countSessionsOf(async () => {
      const answer = await rig.call(at, {
        method,
        headers,
        ...(body === undefined ? {} : { body }),
      });
      // Two of four calls at once may also meet one another at their key.
      const isTold = [told, "409 IDEMPOTENCY_KEY_IN_USE"];
      expect(isTold).toContain(`${answer.status} ${answer.json.errors[0].code}`);
    });
    expect(begun).toBeLessThan(sessionsMax);
  });
});
