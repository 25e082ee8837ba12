import { describe, expect, test } from "@jest/globals";
import { createClient } from "./create-client.ts";
import { systemRuntime } from "./runtime.ts";

/** Creates a client of a service that has these links, the latest change first. */
const createTestClient = (ids: string[], { isOld = false } = {}) => {
  const queries: string[] = [];
  const client = createClient(
    {
      url: "https://pay.example.com",
      apiKey: "plk_1",
      fetch: async (input) => {
        const { search, searchParams } = new URL(input instanceof Request ? input.url : input);
        queries.push(search);
        const offset = Number(searchParams.get("offset"));
        const data = ids.slice(offset, offset + 10).map((id) => ({ id }));
        const nextOffset = offset + 10 < ids.length ? offset + 10 : null;
        const nextUpdatedAfter = `2026-11-21T10:00:0${queries.length}.000Z`;
        const isFirstPage = searchParams.has("updatedAfter") && offset === 0 && !isOld;
        const page = { data, limit: 10, offset, nextOffset };
        return Response.json(isFirstPage ? { ...page, nextUpdatedAfter } : page);
      },
    },
    systemRuntime,
  );
  return { client, queries };
};

const createIds = (count: number) => Array.from({ length: count }, (_, index) => `plink_${index}`);

describe("reconcilePaymentLinks (rule API-44)", () => {
  test("lists the changes since an instant, and then has the `since` of the next run", async () => {
    const { client, queries } = createTestClient(createIds(25));
    const changes = client.reconcilePaymentLinks({ since: "2026-11-20T10:00:00Z" });
    const receivedIds: string[] = [];
    for await (const { id } of changes) {
      receivedIds.push(id);
      expect(changes.nextSince).toBeUndefined();
    }
    expect(receivedIds).toEqual(createIds(25));
    expect(changes.nextSince).toBe("2026-11-21T10:00:01.000Z");
    const query = "?updatedAfter=2026-11-20T10%3A00%3A00.000Z&offset=";
    expect(queries).toEqual([`${query}0`, `${query}10`, `${query}20`]);
  });

  test("has no `nextSince` if the loop ends early", async () => {
    const { client, queries } = createTestClient(createIds(25));
    const changes = client.reconcilePaymentLinks({ since: new Date("2026-11-20T10:00:00Z") });
    for await (const { id } of changes) if (id === "plink_3") break;
    expect([queries.length, changes.nextSince]).toEqual([1, undefined]);
  });

  test("lists all links on the first run", async () => {
    const { client, queries } = createTestClient([]);
    for (const from of [undefined, {}, { since: undefined }, { since: null }]) {
      const changes = client.reconcilePaymentLinks(from);
      for await (const link of changes) throw new Error(`there is a link ${link.id}`);
      expect(changes.nextSince).toBeDefined();
    }
    expect(new Set(queries)).toEqual(
      new Set(["?updatedAfter=1970-01-01T00%3A00%3A00.000Z&offset=0"]),
    );
  });

  test("fails if the service ignores `updatedAfter`, instead of listing all links", async () => {
    const { client } = createTestClient(createIds(5), { isOld: true });
    const listAll = async () => {
      const ids: string[] = [];
      for await (const { id } of client.reconcilePaymentLinks()) ids.push(id);
      return ids;
    };
    await expect(listAll()).rejects.toThrow(/does not support `updatedAfter`/);
  });

  test("rejects a `since` that is not a date", () => {
    const { client, queries } = createTestClient([]);
    expect(() => client.reconcilePaymentLinks({ since: "yesterday" })).toThrow(TypeError);
    expect(queries).toEqual([]);
  });

  test("yields the changes since an instant with eachPaymentLink", async () => {
    const { client, queries } = createTestClient(createIds(2));
    const receivedIds: string[] = [];
    const filter = { status: "completed", updatedAfter: "2026-11-20" } as const;
    for await (const { id } of client.eachPaymentLink(filter)) receivedIds.push(id);
    expect(receivedIds).toEqual(createIds(2));
    expect(queries).toEqual(["?status=completed&updatedAfter=2026-11-20&offset=0"]);
  });
});
