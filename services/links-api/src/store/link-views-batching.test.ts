import { beforeAll, beforeEach, describe, expect, test } from "@jest/globals";
import { type QuerySqlToken, sql } from "slonik";
import * as z from "zod";
import { newId } from "@payment-links/contracts";
import type { Db } from "@payment-links/postgres";
import { useRig } from "@payment-links/runtime/testing/use-rig";
import { createRig } from "../testing/create-rig.ts";
import { sampleAccount } from "../testing/samples.ts";
import { type FindLinkView, createLinkViewLoader } from "./link-views.ts";

const rig = useRig(createRig);
let ids: string[];
let statementCount: number;
let findLinkView: FindLinkView;

beforeAll(async () => {
  const keyHeaders = rig.createKeyHeaders(sampleAccount());
  ids = await Promise.all(
    ["1", "2", "3"].map((toAmount) =>
      rig.createLink(keyHeaders, { toAmount, description: toAmount }),
    ),
  );
});
beforeEach(() => {
  statementCount = 0;
  // Counts statements. The loader only calls `any` on the connection.
  const countingDb = {
    any: (query: QuerySqlToken) => {
      statementCount += 1;
      return rig.pool.any(query);
    },
  };
  findLinkView = createLinkViewLoader(countingDb as Db);
});

const EmptyRow = z.object({}).strict();

describe("links requested in one turn", () => {
  test("are read with one statement and assigned to their requests, including one that does not exist", async () => {
    const requestedIds = [ids[2], newId("plink"), ids[0], ids[2], ids[1]].map((id) => id ?? "");
    const views = await Promise.all(requestedIds.map((id) => findLinkView(id)));
    expect(views.map((view) => view?.description)).toEqual(["3", undefined, "1", "3", "2"]);
    expect(statementCount).toBe(1);
  });

  test("are never cached: a later turn reads what was written since", async () => {
    const [id = ""] = ids;
    expect((await findLinkView(id))?.status).toBe("active");
    await rig.pool.query(sql.type(EmptyRow)`
      UPDATE links SET status = 'inactive' WHERE id = ${id}
    `);
    expect((await findLinkView(id))?.status).toBe("inactive");
    expect(statementCount).toBe(2);
  });

  test("are read one by one if one of them fails, so the others succeed", async () => {
    const brokenAccount = sampleAccount();
    const brokenLinkId = await rig.createLink(rig.createKeyHeaders(brokenAccount), {
      toAmount: "1",
    });
    await rig.pool.query(sql.type(EmptyRow)`
      UPDATE accounts SET profile = '{}' WHERE id = ${brokenAccount.id}
    `);
    const [readResult, failedResult] = await Promise.allSettled([
      findLinkView(ids[1] ?? ""),
      findLinkView(brokenLinkId),
    ]);
    expect(readResult).toMatchObject({ status: "fulfilled", value: { description: "2" } });
    expect(failedResult).toMatchObject({ status: "rejected" });
  });
});
