import { beforeAll, describe, expect, test } from "@jest/globals";
import { useRig } from "@payment-links/runtime/testing/use-rig";
import { endpointsMax } from "../domain/endpoint.ts";
import { type Person, endpointsPath, createRig } from "../testing/create-rig.ts";

/* A rejected request is not a failure, and must not cost the pool a connection. */

const sessionsMax = 5;

const rig = useRig(createRig);
let person: Person;

beforeAll(async () => {
  person = rig.signIn();
  for (let index = 0; index < endpointsMax; index += 1) {
    await rig.call(person, "POST", endpointsPath, { url: "https://shop.com/hook", name: "Shop" });
  }
});

describe("200 rejected requests", () => {
  test.each([
    ["POST ", 409, "WEBHOOK_ENDPOINT_LIMIT", { url: "https://shop.com/hook", name: "Shop" }],
    ["POST ", 422, "INVALID_WEBHOOK_URL", { url: "http://shop.com", name: "Shop" }],
    ["PATCH /none", 404, "NOT_FOUND", { enabled: false }],
    ["DELETE /none", 404, "NOT_FOUND", undefined],
    ["GET /none/deliveries", 404, "NOT_FOUND", undefined],
  ])(
    "%s with status %d %s cost the pool no connection",
    async (requestLine, status, code, body) => {
      const [method = "", path = ""] = requestLine.split(" ");
      const startedSessions = await rig.countNewSessions(async () => {
        const response = await rig.call(person, method, `${endpointsPath}${path}`, body);
        expect([response.status, ...response.codes]).toEqual([status, code]);
      });
      expect(startedSessions).toBeLessThan(sessionsMax);
    },
  );
});
