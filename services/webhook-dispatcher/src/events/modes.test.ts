import { describe, expect, test } from "@jest/globals";
import { createOutgoingEvent } from "@payment-links/bus";
import { linkCompleted } from "@payment-links/contracts";
import { useRig } from "@payment-links/runtime/testing/use-rig";
import { createRig, endpointsPath } from "../testing/create-rig.ts";
import { sampleLink } from "../testing/samples.ts";

const rig = useRig(() =>
  createRig({ environment: { WEBHOOK_HOST_OVERRIDES: "receiver.test=http://127.0.0.1:1" } }),
);

const createEndpoint = async (
  person: ReturnType<typeof rig.signIn>,
  mode?: "live" | "test" | "demo",
) =>
  rig.call(person, "POST", endpointsPath, {
    url: "https://receiver.test/hook",
    name: "Shop",
    mode,
  });

describe("the mode of a webhook endpoint", () => {
  test("is live by default, and each mode has its own limit of five (rule MODE-5)", async () => {
    const person = rig.signIn();
    for (const mode of [undefined, "live", "live", "live", "live", "test"] as const) {
      const { json, status } = await createEndpoint(person, mode);
      expect([status, json.mode]).toEqual([201, mode ?? "live"]);
    }
    expect((await createEndpoint(person, "live")).json.errors[0]?.code).toBe(
      "WEBHOOK_ENDPOINT_LIMIT",
    );
    expect((await createEndpoint(person, "test")).status).toBe(201);
    expect((await createEndpoint(person, "demo")).json.errors[0]?.code).toBe("enum");
    const { json } = await rig.call(person, "GET", endpointsPath);
    const modes = json.data.map(({ mode }) => String(mode));
    expect(modes.toSorted()).toEqual(["live", "live", "live", "live", "live", "test", "test"]);
  });

  test("decides which links' events it receives; a link without a mode is live (rule MODE-5)", async () => {
    const person = rig.signIn();
    await rig.service.start();
    const endpoints = {
      live: (await createEndpoint(person, "live")).json,
      test: (await createEndpoint(person, "test")).json,
    };
    const linkIds: string[] = [];
    for (const mode of ["live", "test", undefined] as const) {
      const link = sampleLink({ userId: person.userId, mode });
      linkIds.push(link.id);
      await rig.publish(
        createOutgoingEvent(linkCompleted, {
          key: link.id,
          occurredAt: rig.clock.now(),
          data: { link },
        }),
      );
    }
    const readLinkIds = async ({ id }: { id: string }) => {
      const entries = await rig.readLog(person, { path: `${endpointsPath}/${id}` });
      return new Set(entries.map(({ linkId }) => String(linkId)));
    };
    const [liveLinkId = "", testLinkId = "", oldLinkId = ""] = linkIds;
    expect(await readLinkIds(endpoints.live)).toEqual(new Set([liveLinkId, oldLinkId]));
    expect(await readLinkIds(endpoints.test)).toEqual(new Set([testLinkId]));
    const listByLink = async (query: string) =>
      (await rig.call(person, "GET", `/console/api/webhook-deliveries?linkId=${query}`)).json.data;
    expect(await listByLink(`${testLinkId}&mode=test`)).toHaveLength(1);
    expect(await listByLink(testLinkId)).toEqual([]);
    expect(await listByLink(liveLinkId)).toHaveLength(1);
    expect(await listByLink(`${liveLinkId}&mode=test`)).toEqual([]);
  });
});
