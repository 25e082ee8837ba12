import { describe, expect, test } from "@jest/globals";
import * as z from "zod";
import { sql } from "slonik";
import { sqlVoid, transact } from "@payment-links/postgres";
import { getFamily, keccak256Hex } from "@payment-links/chains";
import { Decimal } from "@payment-links/contracts";
import { useRig } from "@payment-links/runtime/testing/use-rig";
import { recordPaymentReport } from "../payment-reports/record-payment-report.ts";
import { recordTransfers } from "../payment-reports/record-transfers.ts";
import { createRig } from "../testing/create-rig.ts";
import { readEvents } from "../testing/read-rows.ts";
import { sampleTransfer } from "../testing/sample-transfer.ts";
import { sampleLink, samplePaymentReport } from "../testing/samples.ts";
import { receiveLinks } from "./receive-links.ts";
import { receiveLink } from "../testing/receive-link.ts";

const rig = useRig(createRig);

const receive = (link: ReturnType<typeof sampleLink>) =>
  transact(rig.pool, (tx) => receiveLink(rig.clock)(tx, { link }));

const recordReport = (report: ReturnType<typeof samplePaymentReport>) =>
  transact(rig.pool, (tx) =>
    recordPaymentReport(tx, report, { now: rig.clock.now(), tokenDecimals: 6 }),
  );

const Row = z.object({
  version: z.int(),
  chainId: z.string(),
  tokenAddress: z.string(),
  destinationAddress: z.string(),
  paymentReference: z.string(),
  paymentReferenceHash: z.string(),
});

const readLinks = (id: string) =>
  rig.pool.any(sql.type(Row)`
    SELECT version, chain_id AS "chainId", token_address AS "tokenAddress",
           destination_address AS "destinationAddress", payment_reference AS "paymentReference",
           payment_reference_hash AS "paymentReferenceHash"
    FROM links WHERE id = ${id}
  `);

describe("receiveLinks", () => {
  test("stores the reference by which a payment on chain identifies its link", async () => {
    const link = sampleLink({ paymentReference: "ffeeddccbbaa99887766554433221100" });
    await receive(link);
    expect(await readLinks(link.id)).toEqual([
      {
        version: 1,
        chainId: link.chainId,
        tokenAddress: link.tokenAddress,
        destinationAddress: link.destinationAddress,
        paymentReference: link.paymentReference,
        paymentReferenceHash: keccak256Hex(link.paymentReference),
      },
    ]);
  });

  test("matches a Bitcoin payment to its link by the link's own address, even if the payment came first", async () => {
    const link = sampleLink({
      chainId: "bitcoin",
      tokenAddress: "BTC",
      destinationAddress: "bc1qw508d6qejxtdg4y5r3zarvary0c5xw7kv8f3t4",
    });
    const referenceHash = getFamily("BVM").computeReferenceHash(link);
    const { chainId, destinationAddress, tokenAddress } = link;
    const transferFields = { chainId, destinationAddress, referenceHash, tokenAddress };
    await transact(rig.pool, (tx) =>
      recordTransfers(tx, [sampleTransfer(transferFields)], rig.clock.now()),
    );
    await receive(link);
    expect(await readLinks(link.id)).toMatchObject([{ paymentReferenceHash: referenceHash }]);
    expect(await readEvents(rig.pool, link.id)).toMatchObject([
      { data: { status: "processing", paymentLinkId: link.id, destinationAddress } },
    ]);
  });

  test("applies only higher versions, in any order (rule EVENT-3)", async () => {
    const link = sampleLink();
    for (const [index, version] of [2, 1, 5, 5, 3].entries()) {
      await receive({ ...link, version, destinationAddress: `0x${index}` });
    }
    expect(await readLinks(link.id)).toMatchObject([{ version: 5, destinationAddress: "0x2" }]);
  });

  test("publishes deferred payments in order of arrival with the first event of a link, whatever its version (rule NOTICE-3)", async () => {
    const link = sampleLink({ version: 7 });
    const reports = Array.from({ length: 12 }, () =>
      samplePaymentReport({ paymentLinkId: link.id }),
    );
    for (const report of reports) await recordReport(report);
    await recordReport(samplePaymentReport());
    expect(await readEvents(rig.pool, link.id)).toEqual([]);

    await receive(link);
    await receive({ ...link, version: 8 });
    const events = await readEvents(rig.pool, link.id);
    expect(events.map((event) => event.data.sourceId)).toEqual(
      reports.map((report) => report.sourceId),
    );
    expect(events.every((event) => event.data.version === 1)).toBe(true);
  });

  test("publishes more deferred payments than fit into one batch, each once", async () => {
    const link = sampleLink();
    const paymentCount = 1_001;
    await rig.pool.query(sqlVoid`
      INSERT INTO payments (source, source_id, id, version, payment_link_id, status, amount,
        token_address, chain_id, destination_address, occurred_at, first_seen_at)
      SELECT 'provider:acme', ${link.id} || n, ${link.id} || n, 0, ${link.id}, 'settled', n,
        't', 'c', 'd', now(), now()
      FROM generate_series(1, ${paymentCount}) AS n
    `);
    await receive(link);
    const amounts = (await readEvents(rig.pool, link.id)).map((event) => event.data.amount);
    expect(amounts).toEqual(Array.from({ length: paymentCount }, (_, index) => String(index + 1)));
  });

  test("receives many events together: the newest version of each link, and its deferred payments", async () => {
    const links = Array.from({ length: 40 }, () => sampleLink());
    for (const { id } of links.slice(0, 20))
      await recordReport(samplePaymentReport({ paymentLinkId: id }));
    const events = links.flatMap((link) =>
      [2, 3, 1].map((version) => ({
        data: { link: { ...link, version, destinationAddress: `0x${version}` } },
      })),
    );
    await transact(rig.pool, (tx) => receiveLinks(rig.context)(tx, events));
    for (const [index, { id }] of links.entries()) {
      expect(await readLinks(id)).toMatchObject([{ version: 3, destinationAddress: "0x3" }]);
      expect(await readEvents(rig.pool, id)).toHaveLength(index < 20 ? 1 : 0);
    }
  });

  test("publishes a deferred payment with a wrong amount unchanged", async () => {
    const link = sampleLink();
    const amount = new Decimal("0.00000000000000000001");
    await recordReport(samplePaymentReport({ paymentLinkId: link.id, amount }));
    await receive(link);
    const [event] = await readEvents(rig.pool, link.id);
    expect(event?.data.amount).toBe("0.00000000000000000001");
  });
});
