import { describe, expect, test } from "@jest/globals";
import { sql } from "slonik";
import * as z from "zod";
import { type Account, newId } from "@payment-links/contracts";
import { nothing } from "@payment-links/postgres";
import { waitUntil } from "@payment-links/runtime/testing";
import { useRig } from "@payment-links/runtime/testing/use-rig";
import { openRig } from "../testing/open-rig.ts";
import {
  copyLink,
  sampleAccount,
  sampleSettlement,
  shopAddress,
  usdcOnBase,
} from "../testing/samples.ts";

const rig = useRig(openRig);
const linksPath = "/console/api/payment-links.csv";
const paymentsPath = "/console/api/payments.csv";

const openShop = (account: Account = sampleAccount()) => {
  const key = rig.giveKey(account);
  const session = rig.giveSession(account);
  const ask = (path: string, init: RequestInit = {}) =>
    fetch(`${rig.publicUrl}${path}`, { headers: session, ...init });
  return {
    account,
    ask,
    create: (order: object = {}) => rig.createLink(key, { toAmount: "5", ...order }),
    /** The lines of an export, without the first. */
    read: async (path: string): Promise<string[]> => {
      const [, ...lines] = (await (await ask(path)).text()).trimEnd().split("\r\n");
      return lines;
    },
  };
};

/** The first cell of each line. */
const idsOf = (lines: readonly string[]) => lines.map((line) => line.slice(1, line.indexOf(`",`)));

const LinkRow = z.object({ id: z.string() });

const idsInTable = async (userId: string): Promise<string[]> => {
  const rows = await rig.pool.any(sql.type(LinkRow)`
    SELECT id FROM links WHERE user_id = ${userId} ORDER BY created_at DESC, seq DESC
  `);
  return rows.map(({ id }) => id);
};

describe("GET /console/api/payment-links.csv (rule CALLER-27)", () => {
  test("writes a link as RFC 4180 has it, exact, and nothing in it is a formula", async () => {
    const { account, ask, create } = openShop();
    const description = `=cmd|'/c calc'!A1, "x"\r\nline`;
    const expirationDate = new Date(rig.clock.now().getTime() + 60_000).toISOString();
    const toAmount = "12345678901234567890.000001";
    const id = await create({ toAmount, description, expirationDate, maxUsage: 3 });
    const payment = sampleSettlement(id, { amount: "0.1" });
    await rig.settle(payment);
    const answer = await ask(linksPath);
    expect(answer.headers.get("content-type")).toBe("text/csv; charset=utf-8; header=present");
    expect(answer.headers.get("content-disposition")).toBe(
      'attachment; filename="payment-links.csv"',
    );
    expect(answer.headers.get("x-total-count")).toBe("1");
    const { dateCreated, url } = await rig.retrieve(id);
    expect(url).toContain(String(account.handle));
    const text = await answer.text();
    expect(text).toBe(
      "id,dateCreated,status,toAmount,receivedAmount,token,tokenId,chainId,tokenAddress," +
        "destinationAddress,currentUsage,maxUsage,expirationDate,lastPaymentId,description,url\r\n" +
        `"${id}","${dateCreated}","active","${toAmount}","0.1","USDC","usdc-base","8453",` +
        `"${usdcOnBase.tokenAddress}","${shopAddress}","1","3","${expirationDate}",` +
        `"${payment.id}","'=cmd|'/c calc'!A1, ""x""\r\nline","${url}"\r\n`,
    );
  });

  test.each([linksPath, paymentsPath, "/console/api/deposits.csv"])(
    "%s starts with a byte order mark, by which spreadsheets read it as UTF-8 (rule CALLER-34)",
    async (path) => {
      const { ask, create } = openShop();
      await create({ description: "Grüße, 東京" });
      const bytes = new Uint8Array(await (await ask(path)).arrayBuffer());
      expect(Array.from(bytes.subarray(0, 3))).toEqual([0xef, 0xbb, 0xbf]);
      // One mark alone: a second one would be a part of the first column's name.
      const text = new TextDecoder().decode(bytes);
      expect(text).toMatch(/^id,/);
      if (path === linksPath) expect(text).toContain(`"Grüße, 東京"`);
    },
  );

  test("has every own link once, newest first, over many parts, by the same filters as the list", async () => {
    const shop = openShop();
    await openShop().create({ description: "needle" });
    const first = await shop.create({ description: "Needle" });
    await copyLink(rig.pool, first, { count: 6_000, description: "hay" });
    rig.clock.advance(60_000);
    const last = await shop.create({ description: "needle" });
    const all = await idsInTable(shop.account.id);
    expect(all).toHaveLength(6_002);
    expect(idsOf(await shop.read(linksPath))).toEqual(all);
    expect(idsOf(await shop.read(`${linksPath}?q=NEEDLE`))).toEqual([last, first]);
    expect(idsOf(await shop.read(`${linksPath}?q=hay&status=active`))).toEqual(all.slice(1, -1));
    expect(await shop.read(`${linksPath}?token=none`)).toEqual([]);
    expect(await shop.read(`${linksPath}?q=${all[7]}`)).toHaveLength(1);
    const from = encodeURIComponent(rig.clock.now().toISOString());
    expect(idsOf(await shop.read(`${linksPath}?from=${from}`))).toEqual([last]);
    expect(await shop.read(`${linksPath}?to=${from}`)).toHaveLength(6_001);
    const countOf = async (query: string) => {
      const answer = await shop.ask(`${linksPath}${query}`, { method: "HEAD" });
      return answer.headers.get("x-total-count");
    };
    expect(await countOf("")).toBe("6002");
    expect(await countOf(`?to=${from}`)).toBe("6001");
    expect(await countOf("?status=completed")).toBe("0");
    expect(await countOf("?status=active")).toBeNull();
    expect(await countOf("?q=hay")).toBeNull();
  });

  test("of an account that was never ready is the first line alone", async () => {
    const account = sampleAccount({ handle: null, wallets: [] });
    const answer = await openShop(account).ask(linksPath);
    expect([answer.status, (await answer.text()).split("\r\n").length]).toEqual([200, 2]);
  });

  test("what cannot be written cuts the file off, so that it never looks whole", async () => {
    const shop = openShop();
    const id = await shop.create();
    await copyLink(rig.pool, id, { count: 1_000 });
    await rig.pool.query(nothing`UPDATE links SET token_id = 'lost' WHERE id = ${id}`);
    const answer = await shop.ask(linksPath);
    expect(answer.status).toBe(200);
    await expect(answer.text()).rejects.toThrow("terminated");
  });
});

describe("GET /console/api/payments.csv (rule CALLER-27)", () => {
  test("writes a payment with its ids, amount, state, times and transaction hash", async () => {
    const { create, read, ask } = openShop();
    const linkId = await create({ description: "@SUM(A1)" });
    const payment = sampleSettlement(linkId, {
      amount: "7.000001",
      sourceTransaction: "0xabc",
      occurredAt: new Date(rig.clock.now().getTime() - 5_000),
      firstSeenAt: new Date(rig.clock.now().getTime() - 1_000),
    });
    await rig.settle({ ...payment, status: "processing" });
    await rig.settle({ ...payment, version: 2 });
    await rig.settle({ ...payment, version: 3, isOrphaned: true });
    const [header] = (await (await ask(paymentsPath)).text()).split("\r\n");
    expect(header).toBe(
      "id,paymentLinkId,dateCreated,dateOnChain,dateEnded,status,applied,reason,orphaned,amount," +
        "token,chainId,tokenAddress,destinationAddress,sourceTransaction,description",
    );
    const times = [payment.firstSeenAt, payment.occurredAt, rig.clock.now()];
    expect(await read(paymentsPath)).toEqual([
      `"${payment.id}","${linkId}",` +
        times.map((time) => `"${time.toISOString()}",`).join("") +
        `"settled","true","","true","7.000001","USDC","8453","${usdcOnBase.tokenAddress}",` +
        `"${shopAddress}","0xabc","'@SUM(A1)"`,
    ]);
    await rig.settle({ ...payment, version: 4, isOrphaned: false });
    expect(await read(paymentsPath)).toEqual([
      expect.stringContaining(`"settled","true","","false","7.000001"`),
    ]);
    const unapplied = sampleSettlement(linkId, { amount: "1", chainId: "none" });
    await rig.settle(unapplied);
    const line = (await read(paymentsPath)).find((one) => one.includes(unapplied.id));
    expect(line).toContain(`"settled","false","wrong_token","false","1","","none"`);
  });

  test("has every payment on own links once, link by link, however many links and payments there are", async () => {
    const shop = openShop();
    const [few, none, many, last] = [
      await shop.create(),
      await shop.create(),
      await shop.create(),
      await shop.create(),
    ];
    await copyLink(rig.pool, none, { count: 700 });
    await rig.settle(sampleSettlement(await openShop().create()));
    const pay = (linkId: string, count: number) =>
      rig.pool.query(nothing`
        INSERT INTO payments (id, link_id, version, source, source_id, status, is_applied, amount,
          token_address, chain_id, destination_address, occurred_at, first_seen_at)
        SELECT 'tx_' || right(${linkId}, 12) || number, ${linkId}, 1, ${linkId}, number, 'processing',
          false, 1, '0x', '1', '0x', now(),
          ${sql.timestamp(rig.clock.now())} + number / 3 * interval '1 ms'
        FROM generate_series(1, ${count}::int) AS number
      `);
    await pay(few, 3);
    await pay(many, 1_000);
    await pay(last, 249);
    const expected = await rig.pool.any(sql.type(LinkRow)`
      SELECT payments.id FROM payments JOIN links ON links.id = payments.link_id
      WHERE user_id = ${shop.account.id}
      ORDER BY created_at DESC, seq DESC, first_seen_at DESC, payments.id DESC
    `);
    const ids = expected.map(({ id }) => id);
    expect(ids).toHaveLength(1_252);
    expect(idsOf(await shop.read(paymentsPath))).toEqual(ids);
    const ofOne = ids.slice(249, 1_249);
    const answer = await shop.ask(`${paymentsPath}?link=${many}`);
    expect(answer.headers.get("x-total-count")).toBe("1000");
    const lines = (await answer.text()).trimEnd().split("\r\n").slice(1);
    expect(idsOf(lines)).toEqual(ofOne);
    const at = (ms: number) =>
      encodeURIComponent(new Date(rig.clock.now().getTime() + ms).toISOString());
    expect(await shop.read(`${paymentsPath}?from=${at(300)}`)).toHaveLength(101);
    expect(await shop.read(`${paymentsPath}?from=${at(10)}&to=${at(11)}`)).toHaveLength(6);
    expect(await shop.read(`${paymentsPath}?link=${many}&to=${at(0)}`)).toEqual([]);
  });

  test("of another's link, or of none, is 404; what is no link's id is 422", async () => {
    const { ask } = openShop();
    for (const link of [await openShop().create(), newId("plink")]) {
      expect((await ask(`${paymentsPath}?link=${link}`)).status).toBe(404);
    }
    expect((await ask(`${paymentsPath}?link=x`)).status).toBe(422);
    expect((await ask(`${paymentsPath}?from=x`)).status).toBe(422);
  });
});

/**
 * Asks for an export whose first statement waits for a table for a second: what is read next waits for its
 * turn until the clock has gone on as far.
 */
const askSlowly = async (table: "links" | "payments", ask: () => Promise<Response>) => {
  const { asked } = await rig.pool.transaction(async (tx) => {
    await tx.query(nothing`LOCK TABLE ${sql.identifier([table])} IN ACCESS EXCLUSIVE MODE`);
    const asked = ask();
    await rig.untilBlocked(tx);
    rig.clock.advance(1_000);
    return { asked };
  });
  return asked;
};

const readRest = async (answer: Response): Promise<string[]> => {
  rig.clock.advance(1_000);
  return (await answer.text()).trimEnd().split("\r\n").slice(1);
};

describe("an export, while links are made and paid,", () => {
  test("of links has those that it has counted", async () => {
    const shop = openShop();
    await shop.create();
    await shop.create();
    const ids = await idsInTable(shop.account.id);
    const answer = await askSlowly("links", () => shop.ask(linksPath));
    expect(answer.headers.get("x-total-count")).toBe("2");
    await shop.create();
    expect(idsOf(await readRest(answer))).toEqual(ids);
  });

  test("of links tells one as expired whose expiry passed after it began", async () => {
    const shop = openShop();
    const expirationDate = new Date(rig.clock.now().getTime() + 500).toISOString();
    await shop.create({ expirationDate });
    const answer = await askSlowly("links", () => shop.ask(linksPath));
    const [row = ""] = await readRest(answer);
    expect(row.split(",")[2]).toBe('"inactive"');
  });

  test("of links has none where there was none", async () => {
    const shop = openShop();
    const answer = await askSlowly("links", () => shop.ask(linksPath));
    expect(answer.headers.get("x-total-count")).toBe("0");
    await shop.create();
    expect(await readRest(answer)).toEqual([]);
  });

  test("of one link's payments has those that it has counted", async () => {
    const shop = openShop();
    const link = await shop.create({ toAmount: "100" });
    const pay = async (count: number) => {
      const firstSeenAt = rig.clock.now();
      const payments = Array.from({ length: count }, () => sampleSettlement(link, { firstSeenAt }));
      await rig.settle(...payments);
      return payments.map(({ id }) => id);
    };
    const ofNone = await askSlowly("payments", () => shop.ask(`${paymentsPath}?link=${link}`));
    const paid = await pay(2);
    expect(await readRest(ofNone)).toEqual([]);
    const answer = await askSlowly("payments", () => shop.ask(`${paymentsPath}?link=${link}`));
    expect(answer.headers.get("x-total-count")).toBe("2");
    await pay(1);
    expect(idsOf(await readRest(answer)).toSorted()).toEqual(paid.toSorted());
  });

  test("of all payments has none on a link made after it began", async () => {
    const shop = openShop();
    const pay = async () => {
      const payment = sampleSettlement(await shop.create());
      await rig.settle(payment);
      return payment.id;
    };
    const before = await pay();
    const answer = await askSlowly("links", () => shop.ask(paymentsPath));
    await pay();
    expect(idsOf(await readRest(answer))).toEqual([before]);
  });
});

describe("exports that are read slowly, or not at all,", () => {
  test("hold no connection, and an account has two of them at once, until their reader leaves", async () => {
    const shop = openShop();
    const neighbour = openShop();
    await copyLink(rig.pool, await shop.create(), { count: 30_000, description: "x".repeat(400) });
    const leaving = new AbortController();
    const { signal } = leaving;
    const [one, two] = [await shop.ask(linksPath, { signal }), await shop.ask(paymentsPath, {})];
    expect((await two.text()).split("\r\n")).toHaveLength(2);
    const three = await shop.ask(linksPath, { signal });
    expect([one.status, three.status]).toEqual([200, 200]);
    await waitUntil("nothing is being read", () => rig.pool.state().acquiredConnections === 0);
    const refused = await shop.ask(paymentsPath);
    expect([refused.status, refused.headers.get("retry-after")]).toEqual([429, "10"]);
    expect((await neighbour.ask(linksPath)).status).toBe(200);
    leaving.abort();
    await waitUntil("there is room again", async () => {
      const answer = await shop.ask(paymentsPath);
      await answer.text();
      return answer.status === 200;
    });
  });
});
