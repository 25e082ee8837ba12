import assert from "node:assert/strict";
import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { waitUntil } from "@payment-links/runtime/testing";
import { findFreePorts } from "../rig/free-port.ts";
import { type Cluster, openCluster } from "./cluster.ts";
import { type Release, chart, openNamespace } from "./release.ts";

const installMsMax = 600_000;
const testMsMax = 300_000;
const forwardedMsMax = 30_000;

/**
 * The quickstart's three commands, in a namespace of its own that enforces the restricted level: it
 * comes up with nothing given, makes a first payment, and shows it through one forwarded port. An
 * upgrade keeps its secrets, and a removal leaves nothing but the tests' pods.
 */
export const tryQuickstart = async ({ cluster, config }: Release): Promise<void> => {
  const own = openCluster(`${cluster.namespace}-quickstart`);
  await openNamespace(own);
  const [port = 0] = await findFreePorts(1);
  const images = { registry: config.IMAGE_REGISTRY, tag: config.IMAGE_TAG };
  const input = JSON.stringify({
    image: images,
    baseUrl: `http://localhost:${port}`,
    quickstart: { enabled: true },
  });
  const options = ["--values", "-", "--wait", "--timeout", `${installMsMax / 1000}s`];
  const install = (verb: readonly string[]) =>
    own.helm([...verb, "payment-links", chart, ...options], {
      timeoutMs: installMsMax + 30_000,
      input,
    });
  const notes = await install(["install"]);
  assert.match(notes, new RegExp(`port-forward service/payment-links ${port}:8080`));

  const said = await own.helm(["test", "payment-links", "--logs", "--timeout", "200s"], {
    timeoutMs: testMsMax,
  });
  assert.match(said, /paid: by a notice/);
  const link = findUrl(said, "created: ");
  const signIn = findUrl(said, "sign in, once, within 15 minutes: ");

  const forward = spawn(
    "kubectl",
    ["--namespace", own.namespace, "port-forward", "service/payment-links", `${port}:8080`],
    { stdio: "ignore" },
  );
  try {
    await beSeen(forward, link, /completed/i);
    await beSeen(forward, signIn, /<title>/);
  } finally {
    forward.kill();
    await once(forward, "close");
  }

  const before = await readSecrets(own);
  await install(["upgrade"]);
  assert.deepEqual(await readSecrets(own), before);

  await own.helm(["uninstall", "payment-links", "--wait"], { timeoutMs: testMsMax });
  const which = "app.kubernetes.io/instance,app.kubernetes.io/component!=test";
  const left = ["pods,services,secrets,configmaps,jobs", "--selector", which];
  const none = async () => (await own.kubectl(["get", ...left, "--output", "name"])).trim() === "";
  await waitUntil("nothing of it is left", none, testMsMax);
  await own.kubectl(["delete", "namespace", own.namespace], { timeoutMs: 180_000 });
};

const findUrl = (said: string, before: string): string => {
  const found = new RegExp(`${before}(http\\S+)`).exec(said)?.[1];
  assert.ok(found, `"${before}" in\n${said}`);
  return found;
};

/** Waits until a page shows through the forwarded port. */
const beSeen = async (forward: ChildProcess, url: string, text: RegExp): Promise<void> => {
  await waitUntil(
    `${url} shows ${text}`,
    async () => {
      assert.equal(forward.exitCode, null, "the port-forward ended");
      const page = await fetch(url, { signal: AbortSignal.timeout(5_000) }).catch(() => undefined);
      return page?.status === 200 && text.test(await page.text());
    },
    forwardedMsMax,
  );
};

const readSecrets = (own: Cluster): Promise<string> =>
  own.kubectl(["get", "secret", "payment-links-quickstart", "--output", "jsonpath={.data}"]);
