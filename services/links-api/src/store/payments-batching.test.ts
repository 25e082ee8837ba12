import { expect, test } from "@jest/globals";
import type { QuerySqlToken } from "slonik";
import { newId } from "@payment-links/contracts";
import type { Db } from "@payment-links/postgres";
import { useRig } from "@payment-links/runtime/testing/use-rig";
import { createRig } from "../testing/create-rig.ts";
import { sampleAccount, sampleSettlement } from "../testing/samples.ts";
import { createPendingPaymentsLoader } from "./payments.ts";

const rig = useRig(createRig);

test("pending payments of many links are read with one statement, the newest ten of each", async () => {
  const keyHeaders = rig.createKeyHeaders(sampleAccount());
  const [emptyLinkId = "", onePaymentLinkId = "", manyPaymentsLinkId = ""] = await Promise.all(
    ["1", "2", "3"].map((toAmount) => rig.createLink(keyHeaders, { toAmount })),
  );
  const createPending = (link: string, minute: number) =>
    sampleSettlement(link, {
      status: "processing",
      firstSeenAt: new Date(Date.UTC(2026, 10, 21, 9, minute)),
    });
  const manyPayments = Array.from({ length: 12 }, (_, minute) =>
    createPending(manyPaymentsLinkId, minute),
  );
  const onePayment = createPending(onePaymentLinkId, 30);
  await rig.settle(
    onePayment,
    sampleSettlement(onePaymentLinkId, { amount: "1" }),
    ...manyPayments,
  );
  let statementCount = 0;
  const countingDb = {
    any: (query: QuerySqlToken) => {
      statementCount += 1;
      return rig.pool.any(query);
    },
  };
  const listPending = createPendingPaymentsLoader(countingDb as Db);
  const pendingByLink = await Promise.all(
    [manyPaymentsLinkId, emptyLinkId, onePaymentLinkId, newId("plink")].map((id) =>
      listPending(id),
    ),
  );
  const newestPayments = manyPayments.toReversed().slice(0, 10);
  expect(pendingByLink.map((payments) => payments.map(({ id }) => id))).toEqual([
    newestPayments.map(({ id }) => id),
    [],
    [onePayment.id],
    [],
  ]);
  expect(statementCount).toBe(1);

  // If a link is requested several times in the same turn, each request gets the same payments.
  const repeatedReads = await Promise.all(
    [manyPaymentsLinkId, onePaymentLinkId, manyPaymentsLinkId, onePaymentLinkId].map((id) =>
      listPending(id),
    ),
  );
  expect(repeatedReads.map((payments) => payments.map(({ id }) => id))).toEqual([
    newestPayments.map(({ id }) => id),
    [onePayment.id],
    newestPayments.map(({ id }) => id),
    [onePayment.id],
  ]);
});
