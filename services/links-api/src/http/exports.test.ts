import { describe, expect, test } from "@jest/globals";
import { sql } from "slonik";
import * as z from "zod";
import { type Account, newId } from "@payment-links/contracts";
import { sqlVoid } from "@payment-links/postgres";
import { waitUntil } from "@payment-links/runtime/testing";
import { useRig } from "@payment-links/runtime/testing/use-rig";
import { createRig } from "../testing/create-rig.ts";
import {
  insertLinkCopies,
  sampleAccount,
  sampleSettlement,
  shopAddress,
  usdcOnBase,
} from "../testing/samples.ts";

const rig = useRig(createRig);
const linksPath = "/console/api/payment-links.csv";
const paymentsPath = "/console/api/payments.csv";

const createShop = (account: Account = sampleAccount()) => {
  const keyHeaders = rig.createKeyHeaders(account);
  const sessionHeaders = rig.createSessionHeaders(account);
  const fetchExport = (path: string, init: RequestInit = {}) =>
    fetch(`${rig.publicUrl}${path}`, { headers: sessionHeaders, ...init });
  return {
    account,
    fetchExport,
    createLink: (body: object = {}) => rig.createLink(keyHeaders, { toAmount: "5", ...body }),
    /** Reads the lines of an export, without the header. */
    readLines: async (path: string): Promise<string[]> => {
      const [, ...lines] = (await (await fetchExport(path)).text()).trimEnd().split("\r\n");
      return lines;
    },
  };
};

/** Returns the first cell of each line. */
const parseIds = (lines: readonly string[]) =>
  lines.map((line) => line.slice(1, line.indexOf(`",`)));

const LinkRow = z.object({ id: z.string() });

const readLinkIds = async (userId: string): Promise<string[]> => {
  const rows = await rig.pool.any(sql.type(LinkRow)`
    SELECT id FROM links WHERE user_id = ${userId} ORDER BY created_at DESC, seq DESC
  `);
  return rows.map(({ id }) => id);
};

describe("GET /console/api/payment-links.csv (rule CALLER-27)", () => {
  test("writes a link as exact RFC 4180 values, and no cell is a formula", async () => {
    const { account, fetchExport, createLink } = createShop();
    const description = `=cmd|'/c calc'!A1, "x"\r\nline`;
    const expirationDate = new Date(rig.clock.now().getTime() + 60_000).toISOString();
    const toAmount = "12345678901234567890.000001";
    const id = await createLink({ toAmount, description, expirationDate, maxUsage: 3 });
    const payment = sampleSettlement(id, { amount: "0.1" });
    await rig.settle(payment);
    const response = await fetchExport(linksPath);
    expect(response.headers.get("content-type")).toBe("text/csv; charset=utf-8; header=present");
    expect(response.headers.get("content-disposition")).toBe(
      'attachment; filename="payment-links.csv"',
    );
    expect(response.headers.get("x-total-count")).toBe("1");
    const { dateCreated, url } = await rig.retrieve(id);
    expect(url).toContain(String(account.handle));
    const text = await response.text();
    expect(text).toBe(
      "id,dateCreated,status,toAmount,receivedAmount,token,tokenId,chainId,tokenAddress," +
        "destinationAddress,currentUsage,maxUsage,expirationDate,lastPaymentId,description,url\r\n" +
        `"${id}","${dateCreated}","active","${toAmount}","0.1","USDC","usdc-base","8453",` +
        `"${usdcOnBase.tokenAddress}","${shopAddress}","1","3","${expirationDate}",` +
        `"${payment.id}","'=cmd|'/c calc'!A1, ""x""\r\nline","${url}"\r\n`,
    );
  });

  test.each([linksPath, paymentsPath, "/console/api/deposits.csv"])(
    "%s starts with a byte order mark so that spreadsheets read it as UTF-8 (rule CALLER-34)",
    async (path) => {
      const { fetchExport, createLink } = createShop();
      await createLink({ description: "Grüße, 東京" });
      const bytes = new Uint8Array(await (await fetchExport(path)).arrayBuffer());
      expect(Array.from(bytes.subarray(0, 3))).toEqual([0xef, 0xbb, 0xbf]);
      // There must be exactly one byte order mark, because a second one would become part of the
      // first column's name.
      const text = new TextDecoder().decode(bytes);
      expect(text).toMatch(/^id,/);
      if (path === linksPath) expect(text).toContain(`"Grüße, 東京"`);
    },
  );

  test("contains every own link once, newest first, across many parts, with the same filters as the list", async () => {
    const shop = createShop();
    await createShop().createLink({ description: "needle" });
    const firstLinkId = await shop.createLink({ description: "Needle" });
    await insertLinkCopies(rig.pool, firstLinkId, { count: 6_000, description: "hay" });
    rig.clock.advance(60_000);
    const lastLinkId = await shop.createLink({ description: "needle" });
    const allIds = await readLinkIds(shop.account.id);
    expect(allIds).toHaveLength(6_002);
    expect(parseIds(await shop.readLines(linksPath))).toEqual(allIds);
    expect(parseIds(await shop.readLines(`${linksPath}?q=NEEDLE`))).toEqual([
      lastLinkId,
      firstLinkId,
    ]);
    expect(parseIds(await shop.readLines(`${linksPath}?q=hay&status=active`))).toEqual(
      allIds.slice(1, -1),
    );
    expect(await shop.readLines(`${linksPath}?token=none`)).toEqual([]);
    expect(await shop.readLines(`${linksPath}?q=${allIds[7]}`)).toHaveLength(1);
    const from = encodeURIComponent(rig.clock.now().toISOString());
    expect(parseIds(await shop.readLines(`${linksPath}?from=${from}`))).toEqual([lastLinkId]);
    expect(await shop.readLines(`${linksPath}?to=${from}`)).toHaveLength(6_001);
    const readTotalCount = async (query: string) => {
      const response = await shop.fetchExport(`${linksPath}${query}`, { method: "HEAD" });
      return response.headers.get("x-total-count");
    };
    expect(await readTotalCount("")).toBe("6002");
    expect(await readTotalCount(`?to=${from}`)).toBe("6001");
    expect(await readTotalCount("?status=completed")).toBe("0");
    expect(await readTotalCount("?status=active")).toBeNull();
    expect(await readTotalCount("?q=hay")).toBeNull();
  });

  test("contains only the header for an account that was never ready", async () => {
    const account = sampleAccount({ handle: null, wallets: [] });
    const response = await createShop(account).fetchExport(linksPath);
    expect([response.status, (await response.text()).split("\r\n").length]).toEqual([200, 2]);
  });

  test("aborts the response on an error, so that the file never looks complete", async () => {
    const shop = createShop();
    const id = await shop.createLink();
    await insertLinkCopies(rig.pool, id, { count: 1_000 });
    await rig.pool.query(sqlVoid`UPDATE links SET token_id = 'lost' WHERE id = ${id}`);
    const response = await shop.fetchExport(linksPath);
    expect(response.status).toBe(200);
    await expect(response.text()).rejects.toThrow("terminated");
  });
});

describe("GET /console/api/payments.csv (rule CALLER-27)", () => {
  test("writes a payment with its ids, amount, status, times and transaction hash", async () => {
    const { createLink, readLines, fetchExport } = createShop();
    const linkId = await createLink({ description: "@SUM(A1)" });
    const payment = sampleSettlement(linkId, {
      amount: "7.000001",
      sourceTransaction: "0xabc",
      occurredAt: new Date(rig.clock.now().getTime() - 5_000),
      firstSeenAt: new Date(rig.clock.now().getTime() - 1_000),
    });
    await rig.settle({ ...payment, status: "processing" });
    await rig.settle({ ...payment, version: 2 });
    await rig.settle({ ...payment, version: 3, isOrphaned: true });
    const [header] = (await (await fetchExport(paymentsPath)).text()).split("\r\n");
    expect(header).toBe(
      "id,paymentLinkId,dateCreated,dateOnChain,dateEnded,status,applied,reason,orphaned,amount," +
        "token,chainId,tokenAddress,destinationAddress,sourceTransaction,description",
    );
    const expectedTimes = [payment.firstSeenAt, payment.occurredAt, rig.clock.now()];
    expect(await readLines(paymentsPath)).toEqual([
      `"${payment.id}","${linkId}",` +
        expectedTimes.map((time) => `"${time.toISOString()}",`).join("") +
        `"settled","true","","true","7.000001","USDC","8453","${usdcOnBase.tokenAddress}",` +
        `"${shopAddress}","0xabc","'@SUM(A1)"`,
    ]);
    await rig.settle({ ...payment, version: 4, isOrphaned: false });
    expect(await readLines(paymentsPath)).toEqual([
      expect.stringContaining(`"settled","true","","false","7.000001"`),
    ]);
    const unappliedPayment = sampleSettlement(linkId, { amount: "1", chainId: "none" });
    await rig.settle(unappliedPayment);
    const line = (await readLines(paymentsPath)).find((candidate) =>
      candidate.includes(unappliedPayment.id),
    );
    expect(line).toContain(`"settled","false","wrong_token","false","1","","none"`);
  });

  test("contains every payment on own links once, grouped by link, for any number of links and payments", async () => {
    const shop = createShop();
    const [fewPaymentsLinkId, noPaymentsLinkId, manyPaymentsLinkId, lastLinkId] = [
      await shop.createLink(),
      await shop.createLink(),
      await shop.createLink(),
      await shop.createLink(),
    ];
    await insertLinkCopies(rig.pool, noPaymentsLinkId, { count: 700 });
    await rig.settle(sampleSettlement(await createShop().createLink()));
    const insertPayments = (linkId: string, count: number) =>
      rig.pool.query(sqlVoid`
        INSERT INTO payments (id, link_id, version, source, source_id, status, is_applied, amount,
          token_address, chain_id, destination_address, occurred_at, first_seen_at)
        SELECT 'tx_' || right(${linkId}, 12) || number, ${linkId}, 1, ${linkId}, number, 'processing',
          false, 1, '0x', '1', '0x', now(),
          ${sql.timestamp(rig.clock.now())} + number / 3 * interval '1 ms'
        FROM generate_series(1, ${count}::int) AS number
      `);
    await insertPayments(fewPaymentsLinkId, 3);
    await insertPayments(manyPaymentsLinkId, 1_000);
    await insertPayments(lastLinkId, 249);
    const expectedRows = await rig.pool.any(sql.type(LinkRow)`
      SELECT payments.id FROM payments JOIN links ON links.id = payments.link_id
      WHERE user_id = ${shop.account.id}
      ORDER BY created_at DESC, seq DESC, first_seen_at DESC, payments.id DESC
    `);
    const ids = expectedRows.map(({ id }) => id);
    expect(ids).toHaveLength(1_252);
    expect(parseIds(await shop.readLines(paymentsPath))).toEqual(ids);
    const linkPaymentIds = ids.slice(249, 1_249);
    const response = await shop.fetchExport(`${paymentsPath}?link=${manyPaymentsLinkId}`);
    expect(response.headers.get("x-total-count")).toBe("1000");
    const lines = (await response.text()).trimEnd().split("\r\n").slice(1);
    expect(parseIds(lines)).toEqual(linkPaymentIds);
    const afterNow = (ms: number) =>
      encodeURIComponent(new Date(rig.clock.now().getTime() + ms).toISOString());
    expect(await shop.readLines(`${paymentsPath}?from=${afterNow(300)}`)).toHaveLength(101);
    expect(
      await shop.readLines(`${paymentsPath}?from=${afterNow(10)}&to=${afterNow(11)}`),
    ).toHaveLength(6);
    expect(
      await shop.readLines(`${paymentsPath}?link=${manyPaymentsLinkId}&to=${afterNow(0)}`),
    ).toEqual([]);
  });

  test("returns 404 for another account's link or an unknown one, and 422 for an invalid id", async () => {
    const { fetchExport } = createShop();
    for (const link of [await createShop().createLink(), newId("plink")]) {
      expect((await fetchExport(`${paymentsPath}?link=${link}`)).status).toBe(404);
    }
    expect((await fetchExport(`${paymentsPath}?link=x`)).status).toBe(422);
    expect((await fetchExport(`${paymentsPath}?from=x`)).status).toBe(422);
  });
});

/**
 * Sends an export request whose first statement takes one second, because it waits for a table lock.
 * The next read starts only after the clock has advanced by another second.
 */
const requestDuringLock = async (
  table: "links" | "payments",
  sendRequest: () => Promise<Response>,
) => {
  const { pendingResponse } = await rig.pool.transaction(async (tx) => {
    await tx.query(sqlVoid`LOCK TABLE ${sql.identifier([table])} IN ACCESS EXCLUSIVE MODE`);
    const pendingResponse = sendRequest();
    await rig.waitUntilBlocked(tx);
    rig.clock.advance(1_000);
    return { pendingResponse };
  });
  return pendingResponse;
};

const readRemainingLines = async (response: Response): Promise<string[]> => {
  rig.clock.advance(1_000);
  return (await response.text()).trimEnd().split("\r\n").slice(1);
};

describe("an export during concurrent writes", () => {
  test("of links contains exactly the counted links", async () => {
    const shop = createShop();
    await shop.createLink();
    await shop.createLink();
    const ids = await readLinkIds(shop.account.id);
    const response = await requestDuringLock("links", () => shop.fetchExport(linksPath));
    expect(response.headers.get("x-total-count")).toBe("2");
    await shop.createLink();
    expect(parseIds(await readRemainingLines(response))).toEqual(ids);
  });

  test("of links shows a link as expired if its expiry passes during the export", async () => {
    const shop = createShop();
    const expirationDate = new Date(rig.clock.now().getTime() + 500).toISOString();
    await shop.createLink({ expirationDate });
    const response = await requestDuringLock("links", () => shop.fetchExport(linksPath));
    const [row = ""] = await readRemainingLines(response);
    expect(row.split(",")[2]).toBe('"inactive"');
  });

  test("of links is empty if there was no link at the start", async () => {
    const shop = createShop();
    const response = await requestDuringLock("links", () => shop.fetchExport(linksPath));
    expect(response.headers.get("x-total-count")).toBe("0");
    await shop.createLink();
    expect(await readRemainingLines(response)).toEqual([]);
  });

  test("of one link's payments contains exactly the counted payments", async () => {
    const shop = createShop();
    const link = await shop.createLink({ toAmount: "100" });
    const settlePayments = async (count: number) => {
      const firstSeenAt = rig.clock.now();
      const payments = Array.from({ length: count }, () => sampleSettlement(link, { firstSeenAt }));
      await rig.settle(...payments);
      return payments.map(({ id }) => id);
    };
    const emptyResponse = await requestDuringLock("payments", () =>
      shop.fetchExport(`${paymentsPath}?link=${link}`),
    );
    const paidIds = await settlePayments(2);
    expect(await readRemainingLines(emptyResponse)).toEqual([]);
    const response = await requestDuringLock("payments", () =>
      shop.fetchExport(`${paymentsPath}?link=${link}`),
    );
    expect(response.headers.get("x-total-count")).toBe("2");
    await settlePayments(1);
    expect(parseIds(await readRemainingLines(response)).toSorted()).toEqual(paidIds.toSorted());
  });

  test("of all payments contains none on a link created after the start", async () => {
    const shop = createShop();
    const settlePayment = async () => {
      const payment = sampleSettlement(await shop.createLink());
      await rig.settle(payment);
      return payment.id;
    };
    const paymentIdBefore = await settlePayment();
    const response = await requestDuringLock("links", () => shop.fetchExport(paymentsPath));
    await settlePayment();
    expect(parseIds(await readRemainingLines(response))).toEqual([paymentIdBefore]);
  });
});

describe("exports whose clients read slowly or not at all", () => {
  test("use no connection, and are limited to two per account until the client disconnects", async () => {
    const shop = createShop();
    const neighbourShop = createShop();
    await insertLinkCopies(rig.pool, await shop.createLink(), {
      count: 30_000,
      description: "x".repeat(400),
    });
    const abortController = new AbortController();
    const { signal } = abortController;
    const [firstResponse, secondResponse] = [
      await shop.fetchExport(linksPath, { signal }),
      await shop.fetchExport(paymentsPath, {}),
    ];
    expect((await secondResponse.text()).split("\r\n")).toHaveLength(2);
    const thirdResponse = await shop.fetchExport(linksPath, { signal });
    expect([firstResponse.status, thirdResponse.status]).toEqual([200, 200]);
    await waitUntil(
      "no export uses a pool connection",
      () => rig.pool.state().acquiredConnections === 0,
    );
    const rejected = await shop.fetchExport(paymentsPath);
    expect([rejected.status, rejected.headers.get("retry-after")]).toEqual([429, "10"]);
    expect((await neighbourShop.fetchExport(linksPath)).status).toBe(200);
    abortController.abort();
    await waitUntil("an export slot is free", async () => {
      const response = await shop.fetchExport(paymentsPath);
      await response.text();
      return response.status === 200;
    });
  });
});
