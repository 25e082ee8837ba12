import { afterAll, beforeAll, describe, expect, test } from "@jest/globals";
import { type Rig, createRig } from "../testing/create-rig.ts";
import { sampleAccount } from "../testing/samples.ts";

/* A rejected request is not a failure, so it must not cost the pool a connection. */

const linksPath = "/console/api/payment-links";
const createBody = '{"toAmount":"5"}';
const refundBody = JSON.stringify({
  paymentId: "tx_00000000000000000000000000",
  amount: "1",
  destinationAddress: "none",
  transactionId: "none",
});
const sessionsMax = 5;

let rig: Rig;
let sessionHeaders: Record<string, string>;
let inactiveId: string;

beforeAll(async () => {
  rig = await createRig();
  sessionHeaders = rig.createSessionHeaders(sampleAccount());
  const headers = { ...sessionHeaders, "idempotency-key": "used" };
  const created = await rig.call(linksPath, { method: "POST", headers, body: createBody });
  inactiveId = created.json.id;
  await rig.call(`${linksPath}/${inactiveId}/deactivate`, { method: "POST", headers });
});
afterAll(() => rig.close());

const rejectedCalls: readonly [
  call: string,
  answer: string,
  body: string | undefined,
  key: string,
][] = [
  ["GET ?offset=x", "422 int_parsing", undefined, ""],
  ["POST ", "422 missing", "{}", ""],
  ["POST ", "422 missing", "{}", "unused"],
  ["POST ", "422 IDEMPOTENCY_KEY_REUSED", '{"toAmount":"6"}', "used"],
  ["GET /none", "404 NOT_FOUND", undefined, ""],
  ["GET /none/payments", "404 NOT_FOUND", undefined, ""],
  ["POST /none/deactivate", "404 NOT_FOUND", undefined, ""],
  ["POST /none/refunds", "404 NOT_FOUND", refundBody, ""],
  ["POST /inactive/refunds", "404 NOT_FOUND", refundBody, ""],
  ["POST /inactive/refund-instructions", "404 NOT_FOUND", refundBody, ""],
  ["POST /inactive/deactivate", "409 PAYMENT_LINK_NOT_ACTIVE", undefined, ""],
];

describe("200 rejected requests", () => {
  test.each(rejectedCalls)(
    "of %s with %s do not cost the pool a connection",
    async (requestLine, expected, body, key) => {
      const [method = "", path = ""] = requestLine.split(" ");
      const requestPath = `${linksPath}${path.replace("inactive", inactiveId)}`;
      const headers = { ...sessionHeaders, ...(key === "" ? {} : { "idempotency-key": key }) };
      const sessionCount = await rig.countNewSessions(async () => {
        const response = await rig.call(requestPath, {
          method,
          headers,
          ...(body === undefined ? {} : { body }),
        });
        // Up to four requests run concurrently, so some can conflict because they use the same
        // idempotency key.
        const allowedResults = [expected, "409 IDEMPOTENCY_KEY_IN_USE"];
        expect(allowedResults).toContain(`${response.status} ${response.json.errors[0].code}`);
      });
      expect(sessionCount).toBeLessThan(sessionsMax);
    },
  );
});
