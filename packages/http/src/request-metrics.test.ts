import { describe, expect, test } from "@jest/globals";
import { once } from "node:events";
import { connect } from "node:net";
import { waitUntil } from "@payment-links/runtime/testing";
import { useRig } from "@payment-links/runtime/testing/use-rig";
import { publicRoute } from "./route.ts";
import { sendRequest } from "./testing/client.ts";
import { startApp } from "./testing/start-app.ts";

let onSlowStarted = () => {};
let finishSlow = () => {};

const app = useRig(() =>
  startApp({
    logLevel: "silent",
    routes: [
      publicRoute({ method: "get", path: "/things/:id", handle: (_req, res) => void res.json({}) }),
      publicRoute({
        method: "get",
        path: "/slow",
        handle: (_req, res) =>
          new Promise<void>((resolve) => {
            finishSlow = () => {
              res.json({});
              resolve();
            };
            onSlowStarted();
          }),
      }),
    ],
  }),
);

const readCountSeries = async (): Promise<string[]> => {
  const text = await app.metrics.getSingleMetricAsString("http_server_request_duration_seconds");
  return text.split("\n").filter((line) => line.includes("_seconds_count{"));
};

describe("the request metrics", () => {
  test("have labels for the method, the route's pattern and the status", async () => {
    await sendRequest({ port: app.port, path: "/things/1" });
    const labels =
      'http_request_method="GET",http_route="/things/:id",http_response_status_code="200"';
    expect(await readCountSeries()).toEqual([expect.stringMatching(`${labels}} 1$`)]);
  });

  test("add no series, however many paths and methods are requested", async () => {
    const methods = ["GET", "POST", "PROPFIND", "MKCOL", "REPORT", "PURGE"];
    const sendAll = async (round: number) => {
      for (const method of methods) {
        const path = `/${round}/%${round}?q=${round}`;
        await sendRequest({ port: app.port, method, path });
        await sendRequest({ port: app.port, method, path: `/things/${round}` });
      }
    };
    await sendAll(0);
    const seriesBefore = await readCountSeries();
    for (let round = 1; round <= 20; round += 1) await sendAll(round);
    const seriesAfter = await readCountSeries();
    expect(seriesAfter).toHaveLength(seriesBefore.length);
    // Statuses 404, 405 and 200, each for one method label: GET, POST or other.
    expect(seriesAfter).toHaveLength(6);
    expect(seriesAfter.join("\n")).toMatch(/"_OTHER",http_route="unmatched"/);
  });

  test("record 499 for a client that leaves before its response, not a success", async () => {
    const slowStarted = new Promise<void>((resolve) => {
      onSlowStarted = resolve;
    });
    const socket = connect(app.port, "127.0.0.1");
    socket.write("GET /slow HTTP/1.1\r\nHost: a\r\n\r\n");
    await slowStarted;
    socket.destroy();
    await once(socket, "close");
    await waitUntil("the request is counted", async () =>
      (await readCountSeries()).some((line) => line.includes("/slow")),
    );
    finishSlow();
    const slowSeries = (await readCountSeries()).find((line) => line.includes("/slow"));
    expect(slowSeries).toContain('http_response_status_code="499"');
  });
});
