import type { IncomingMessage, ServerResponse } from "node:http";
import { describe, expect, test } from "@jest/globals";
import { Decimal, newId } from "@payment-links/contracts";
import { listen } from "@payment-links/http";
import { ampleTimeoutMs, provokedTimeoutMs } from "@payment-links/runtime/testing/time-limits";
import { createReceiptClient } from "./receipt-client.ts";

const receipt = {
  to: "payer@example.com",
  language: "en",
  paymentId: newId("tx"),
  shop: "Shop",
  description: null,
  amount: new Decimal("25.5"),
  chainId: "8453",
  tokenAddress: "0x1",
  paidAt: new Date("2026-11-21T10:00:00.000Z"),
  sourceTransaction: null,
  isObserved: false,
} as const;

/** Calls the client with a server that sends this response. Returns what both received. */
const sendReceipt = async (status: number, text: string, { isSilent = false } = {}) => {
  const requests: { path: string | undefined; authorization: string | undefined; body: unknown }[] =
    [];
  const handler = async (req: IncomingMessage, res: ServerResponse) => {
    const chunks: Buffer[] = [];
    for await (const chunk of req) chunks.push(chunk);
    const { url: path, headers } = req;
    const body: unknown = JSON.parse(Buffer.concat(chunks).toString());
    requests.push({ path, authorization: headers.authorization, body });
    if (!isSilent) res.writeHead(status).end(text);
  };
  const listener = await listen({ handler, host: "127.0.0.1", port: 0, portVariable: "PORT" });
  const send = createReceiptClient({
    url: `http://127.0.0.1:${listener.port}`,
    token: "of the services",
    timeoutMs: isSilent ? provokedTimeoutMs(100) : ampleTimeoutMs,
  });
  const result = await send(receipt).catch((error: unknown) => error);
  await listener.close();
  return { result, requests };
};

describe("createReceiptClient", () => {
  test("sends the receipt with the internal token, and returns the outcome", async () => {
    const { result, requests } = await sendReceipt(200, '{"outcome":"sent"}');
    expect(result).toEqual({ outcome: "sent" });
    expect(requests).toEqual([
      {
        path: "/internal/receipts",
        authorization: "Bearer of the services",
        body: { ...receipt, amount: "25.5", paidAt: "2026-11-21T10:00:00.000Z" },
      },
    ]);
  });

  test.each([
    ["an error response", 503, "{}"],
    ["the response of a version without receipts", 404, "{}"],
    ["text that is not JSON", 200, "<html>"],
    ["JSON of another shape", 200, '{"outcome":"payer@example.com"}'],
  ])("rejects %s with an error without the address (rule MAIL-8)", async (_name, status, text) => {
    const { result } = await sendReceipt(status, text);
    expect(result).toBeInstanceOf(Error);
    expect(`${String(result)} ${(result as Error).stack}`).not.toContain("payer@example.com");
  });

  test("times out if the server never responds (rule MAIL-8)", async () => {
    expect((await sendReceipt(200, "", { isSilent: true })).result).toBeInstanceOf(Error);
  });
});
