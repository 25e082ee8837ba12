import { beforeAll, beforeEach, describe, expect, test } from "@jest/globals";
import { type QuerySqlToken, sql } from "slonik";
import * as z from "zod";
import { newId } from "@payment-links/contracts";
import type { Db } from "@payment-links/postgres";
import { useRig } from "@payment-links/runtime/testing/use-rig";
import { openRig } from "../testing/open-rig.ts";
import { sampleAccount } from "../testing/samples.ts";
import { type FindLinkView, createLinkViews } from "./link-views.ts";

const rig = useRig(openRig);
let ids: string[];
let statements: number;
let findLinkView: FindLinkView;

beforeAll(async () => {
  const key = rig.giveKey(sampleAccount());
  ids = await Promise.all(
    ["1", "2", "3"].map((toAmount) => rig.createLink(key, { toAmount, description: toAmount })),
  );
});
beforeEach(() => {
  statements = 0;
  // The connection only gets `any`: the reader's own statement, counted.
  const counted = {
    any: (query: QuerySqlToken) => {
      statements += 1;
      return rig.pool.any(query);
    },
  };
  findLinkView = createLinkViews(counted as Db);
});

const nothing = z.object({}).strict();

describe("links that are asked for in one turn", () => {
  test("are read by one statement, each to whom it belongs, one that is not there among them", async () => {
    const asked = [ids[2], newId("plink"), ids[0], ids[2], ids[1]].map((id) => id ?? "");
    const views = await Promise.all(asked.map((id) => findLinkView(id)));
    expect(views.map((view) => view?.description)).toEqual(["3", undefined, "1", "3", "2"]);
    expect(statements).toBe(1);
  });

  test("are never remembered: a later turn sees what was written since", async () => {
    const [id = ""] = ids;
    expect((await findLinkView(id))?.status).toBe("active");
    await rig.pool.query(sql.type(nothing)`
      UPDATE links SET status = 'inactive' WHERE id = ${id}
    `);
    expect((await findLinkView(id))?.status).toBe("inactive");
    expect(statements).toBe(2);
  });

  test("of which one cannot be read are read alone: the others are answered", async () => {
    const lost = sampleAccount();
    const bad = await rig.createLink(rig.giveKey(lost), { toAmount: "1" });
    await rig.pool.query(sql.type(nothing)`
      UPDATE accounts SET profile = '{}' WHERE id = ${lost.id}
    `);
    const [good, failed] = await Promise.allSettled([
      findLinkView(ids[1] ?? ""),
      findLinkView(bad),
    ]);
    expect(good).toMatchObject({ status: "fulfilled", value: { description: "2" } });
    expect(failed).toMatchObject({ status: "rejected" });
  });
});
