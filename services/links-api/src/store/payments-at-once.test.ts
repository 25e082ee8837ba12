import { expect, test } from "@jest/globals";
import type { QuerySqlToken } from "slonik";
import { newId } from "@payment-links/contracts";
import type { Db } from "@payment-links/postgres";
import { useRig } from "@payment-links/runtime/testing/use-rig";
import { openRig } from "../testing/open-rig.ts";
import { sampleAccount, sampleSettlement } from "../testing/samples.ts";
import { createPendingPayments } from "./payments.ts";

const rig = useRig(openRig);

test("pending payments of many links are read by one statement, the newest ten of each", async () => {
  const key = rig.giveKey(sampleAccount());
  const [none = "", one = "", many = ""] = await Promise.all(
    ["1", "2", "3"].map((toAmount) => rig.createLink(key, { toAmount })),
  );
  const seen = (link: string, minute: number) =>
    sampleSettlement(link, {
      status: "processing",
      firstSeenAt: new Date(Date.UTC(2026, 10, 21, 9, minute)),
    });
  const ofMany = Array.from({ length: 12 }, (_, minute) => seen(many, minute));
  const ofOne = seen(one, 30);
  await rig.settle(ofOne, sampleSettlement(one, { amount: "1" }), ...ofMany);
  let statements = 0;
  const counted = {
    any: (query: QuerySqlToken) => {
      statements += 1;
      return rig.pool.any(query);
    },
  };
  const list = createPendingPayments(counted as Db);
  const found = await Promise.all([many, none, one, newId("plink")].map((id) => list(id)));
  const wanted = ofMany.toReversed().slice(0, 10);
  expect(found.map((payments) => payments.map(({ id }) => id))).toEqual([
    wanted.map(({ id }) => id),
    [],
    [ofOne.id],
    [],
  ]);
  expect(statements).toBe(1);

  // Whoever else reads a link at that moment: as many payments.
  const twice = await Promise.all([many, one, many, one].map((id) => list(id)));
  expect(twice.map((payments) => payments.map(({ id }) => id))).toEqual([
    wanted.map(({ id }) => id),
    [ofOne.id],
    wanted.map(({ id }) => id),
    [ofOne.id],
  ]);
});
