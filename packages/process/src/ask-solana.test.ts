import { createServer } from "node:http";
import { describe, expect, test } from "@jest/globals";
import { listen } from "@payment-links/http";
import { createHttpAskSolana, createHttpAskUsedAddresses } from "./ask-solana.ts";
import { ampleTimeoutMs, provokedTimeoutMs } from "@payment-links/runtime/testing/time-limits";

const key = "9WzDXwBbmkg8ZTbNMqUxvQRAyrZzDsGYdLVL9zYtAWWM";
const question = { chainId: "solana", tokenAddress: key, payer: key, owner: key };
const facts = {
  blockhash: key,
  payerAmount: "12",
  isOwnerReady: true,
  isTokenProgramAccount: true,
};

type Heard = { path: string | undefined; authorization: string | undefined; body: string };

/** Asks a server that answers so; answers what came of it, and what the server heard. */
const askOf = async (status: number, text: string, { isSilent = false } = {}) => {
  const heard: Heard[] = [];
  const server = createServer(async (req, res) => {
    const chunks: Buffer[] = [];
    for await (const chunk of req) chunks.push(chunk);
    const { url: path, headers } = req;
    const { authorization } = headers;
    heard.push({ path, authorization, body: Buffer.concat(chunks).toString() });
    if (!isSilent) res.writeHead(status).end(text);
  });
  const [handler] = server.listeners("request") as [Parameters<typeof listen>[0]["handler"]];
  const listening = await listen({ handler, host: "127.0.0.1", port: 0, variable: "PORT" });
  const ask = createHttpAskSolana({
    url: `http://127.0.0.1:${listening.port}`,
    token: "of the services",
    timeoutMs: isSilent ? provokedTimeoutMs(100) : ampleTimeoutMs,
  });
  const outcome = await ask(question).catch((error: unknown) => error);
  await listening.close();
  return { outcome, heard };
};

test("asking settlement-listener which addresses were used sends the question there", async () => {
  const asked = { chainId: "bitcoin", addresses: ["one", "other"] };
  const paths: (string | undefined)[] = [];
  const server = createServer((req, res) => {
    paths.push(req.url);
    res.end(JSON.stringify({ usedAddresses: ["other"] }));
  });
  const [handler] = server.listeners("request") as [Parameters<typeof listen>[0]["handler"]];
  const listening = await listen({ handler, host: "127.0.0.1", port: 0, variable: "PORT" });
  const ask = createHttpAskUsedAddresses({ url: `http://127.0.0.1:${listening.port}` });
  expect(await ask(asked)).toEqual({ usedAddresses: ["other"] });
  expect(paths).toEqual(["/internal/settlement/used-addresses"]);
  await listening.close();
});

describe("asking settlement-listener what stands on Solana", () => {
  test("sends the question with the services' token, and answers what it is told", async () => {
    const { outcome, heard } = await askOf(200, JSON.stringify(facts));
    expect(outcome).toEqual(facts);
    expect(heard).toEqual([
      {
        path: "/internal/settlement/solana-facts",
        authorization: "Bearer of the services",
        body: JSON.stringify(question),
      },
    ]);
  });

  test("tells a chain that is not watched from one that cannot be asked", async () => {
    expect((await askOf(204, "")).outcome).toBeUndefined();
    expect((await askOf(404, "{}")).outcome).toBeInstanceOf(Error);
  });

  test("takes an older process, which does not say who owns the destination, at its word", async () => {
    const { isTokenProgramAccount: _missing, ...older } = facts;
    const { outcome } = await askOf(200, JSON.stringify(older));
    expect(outcome).toEqual({ ...older, isTokenProgramAccount: false });
  });

  test.each([
    ["a refusal", 503, "{}"],
    ["a refusal, whatever it tells", 403, JSON.stringify(facts)],
    ["no JSON", 200, "<html>"],
    ["another shape", 200, JSON.stringify({ ...facts, payerAmount: -1 })],
    ["a key that is none", 200, JSON.stringify({ ...facts, blockhash: "" })],
  ])("rejects at %s", async (_name, status, text) => {
    expect((await askOf(status, text)).outcome).toBeInstanceOf(Error);
  });

  test("gives up in time where nobody answers", async () => {
    expect((await askOf(200, "", { isSilent: true })).outcome).toBeInstanceOf(Error);
  });
});
