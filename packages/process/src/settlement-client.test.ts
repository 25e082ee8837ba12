import { createServer } from "node:http";
import { describe, expect, test } from "@jest/globals";
import { listen } from "@payment-links/http";
import { createSolanaAccountStateClient, createUsedAddressesClient } from "./settlement-client.ts";
import { ampleTimeoutMs, provokedTimeoutMs } from "@payment-links/runtime/testing/time-limits";

const key = "9WzDXwBbmkg8ZTbNMqUxvQRAyrZzDsGYdLVL9zYtAWWM";
const request = { chainId: "solana", tokenAddress: key, payer: key, owner: key };
const accountState = {
  blockhash: key,
  payerAmount: "12",
  isOwnerReady: true,
  isTokenProgramAccount: true,
};

type ReceivedRequest = {
  path: string | undefined;
  authorization: string | undefined;
  body: string;
};

/**
 * Calls the client with a server that sends this response. Returns the result and the requests that
 * the server received.
 */
const requestAccountState = async (status: number, text: string, { isSilent = false } = {}) => {
  const receivedRequests: ReceivedRequest[] = [];
  const server = createServer(async (req, res) => {
    const chunks: Buffer[] = [];
    for await (const chunk of req) chunks.push(chunk);
    const { url: path, headers } = req;
    const { authorization } = headers;
    receivedRequests.push({ path, authorization, body: Buffer.concat(chunks).toString() });
    if (!isSilent) res.writeHead(status).end(text);
  });
  const [handler] = server.listeners("request") as [Parameters<typeof listen>[0]["handler"]];
  const listener = await listen({ handler, host: "127.0.0.1", port: 0, portVariable: "PORT" });
  const fetchSolanaAccountState = createSolanaAccountStateClient({
    url: `http://127.0.0.1:${listener.port}`,
    token: "of the services",
    timeoutMs: isSilent ? provokedTimeoutMs(100) : ampleTimeoutMs,
  });
  const result = await fetchSolanaAccountState(request).catch((error: unknown) => error);
  await listener.close();
  return { result, receivedRequests };
};

test("createUsedAddressesClient sends its request to settlement-listener", async () => {
  const usedAddressesRequest = { chainId: "bitcoin", addresses: ["one", "other"] };
  const paths: (string | undefined)[] = [];
  const server = createServer((req, res) => {
    paths.push(req.url);
    res.end(JSON.stringify({ usedAddresses: ["other"] }));
  });
  const [handler] = server.listeners("request") as [Parameters<typeof listen>[0]["handler"]];
  const listener = await listen({ handler, host: "127.0.0.1", port: 0, portVariable: "PORT" });
  const fetchUsedAddresses = createUsedAddressesClient({
    url: `http://127.0.0.1:${listener.port}`,
  });
  expect(await fetchUsedAddresses(usedAddressesRequest)).toEqual({ usedAddresses: ["other"] });
  expect(paths).toEqual(["/internal/settlement/used-addresses"]);
  await listener.close();
});

describe("createSolanaAccountStateClient", () => {
  test("sends the request with the internal token, and returns the response", async () => {
    const { result, receivedRequests } = await requestAccountState(
      200,
      JSON.stringify(accountState),
    );
    expect(result).toEqual(accountState);
    expect(receivedRequests).toEqual([
      {
        path: "/internal/settlement/solana-facts",
        authorization: "Bearer of the services",
        body: JSON.stringify(request),
      },
    ]);
  });

  test("returns undefined for a chain that is not watched, and an error for one that cannot be queried", async () => {
    expect((await requestAccountState(204, "")).result).toBeUndefined();
    expect((await requestAccountState(404, "{}")).result).toBeInstanceOf(Error);
  });

  test("accepts the response of an older version, which lacks `isTokenProgramAccount`", async () => {
    const { isTokenProgramAccount: _missing, ...legacyState } = accountState;
    const { result } = await requestAccountState(200, JSON.stringify(legacyState));
    expect(result).toEqual({ ...legacyState, isTokenProgramAccount: false });
  });

  test.each([
    ["an error response", 503, "{}"],
    ["an error status with a valid body", 403, JSON.stringify(accountState)],
    ["text that is not JSON", 200, "<html>"],
    ["JSON of another shape", 200, JSON.stringify({ ...accountState, payerAmount: -1 })],
    ["an invalid public key", 200, JSON.stringify({ ...accountState, blockhash: "" })],
  ])("rejects %s", async (_name, status, text) => {
    expect((await requestAccountState(status, text)).result).toBeInstanceOf(Error);
  });

  test("times out if the server never responds", async () => {
    expect((await requestAccountState(200, "", { isSilent: true })).result).toBeInstanceOf(Error);
  });
});
