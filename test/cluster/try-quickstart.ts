import assert from "node:assert/strict";
import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { waitUntil } from "@payment-links/runtime/testing";
import { findFreePorts } from "@payment-links/runtime/testing/free-port";
import { type Cluster, createCluster } from "./cluster.ts";
import { type Release, chart, createNamespace } from "./release.ts";

const installMsMax = 600_000;
const testMsMax = 300_000;
const forwardedMsMax = 30_000;

/**
 * Runs the quickstart's three commands in a separate namespace that enforces the restricted level.
 * Asserts that it starts without any values, and that a first payment succeeds and appears on pages
 * through one forwarded port. Also asserts that an upgrade preserves the secrets, and that only the
 * tests' pods remain after uninstalling.
 */
export const tryQuickstart = async ({ cluster, config }: Release): Promise<void> => {
  const ownCluster = createCluster(`${cluster.namespace}-quickstart`);
  await createNamespace(ownCluster);
  const [port = 0] = await findFreePorts(1);
  const images = { registry: config.IMAGE_REGISTRY, tag: config.IMAGE_TAG };
  const input = JSON.stringify({
    image: images,
    baseUrl: `http://localhost:${port}`,
    quickstart: { enabled: true },
  });
  const options = ["--values", "-", "--wait", "--timeout", `${installMsMax / 1000}s`];
  const install = (verb: readonly string[]) =>
    ownCluster.helm([...verb, "payment-links", chart, ...options], {
      timeoutMs: installMsMax + 30_000,
      input,
    });
  const notes = await install(["install"]);
  assert.match(notes, new RegExp(`port-forward service/payment-links ${port}:8080`));

  const output = await ownCluster.helm(["test", "payment-links", "--logs", "--timeout", "200s"], {
    timeoutMs: testMsMax,
  });
  assert.match(output, /paid: by a settlement notice/);
  const link = findUrl(output, "created: ");
  const signIn = findUrl(output, "sign-in link, works once, for 15 minutes: ");

  const portForward = spawn(
    "kubectl",
    ["--namespace", ownCluster.namespace, "port-forward", "service/payment-links", `${port}:8080`],
    { stdio: "ignore" },
  );
  try {
    await waitForPage(portForward, link, /completed/i);
    await waitForPage(portForward, signIn, /<title>/);
  } finally {
    portForward.kill();
    await once(portForward, "close");
  }

  const secretsBefore = await readSecrets(ownCluster);
  await install(["upgrade"]);
  assert.deepEqual(await readSecrets(ownCluster), secretsBefore);

  await ownCluster.helm(["uninstall", "payment-links", "--wait"], { timeoutMs: testMsMax });
  const selector = "app.kubernetes.io/instance,app.kubernetes.io/component!=test";
  const leftoverArgs = ["pods,services,secrets,configmaps,jobs", "--selector", selector];
  const hasNoLeftovers = async () =>
    (await ownCluster.kubectl(["get", ...leftoverArgs, "--output", "name"])).trim() === "";
  await waitUntil("all its objects are deleted", hasNoLeftovers, testMsMax);
  await ownCluster.kubectl(["delete", "namespace", ownCluster.namespace], { timeoutMs: 180_000 });
};

const findUrl = (output: string, prefix: string): string => {
  const url = new RegExp(`${prefix}(http\\S+)`).exec(output)?.[1];
  assert.ok(url, `"${prefix}" is missing in\n${output}`);
  return url;
};

/** Waits until a page with the text is available through the forwarded port. */
const waitForPage = async (portForward: ChildProcess, url: string, text: RegExp): Promise<void> => {
  await waitUntil(
    `${url} shows ${text}`,
    async () => {
      assert.equal(portForward.exitCode, null, "the port-forward exited");
      const page = await fetch(url, { signal: AbortSignal.timeout(5_000) }).catch(() => undefined);
      return page?.status === 200 && text.test(await page.text());
    },
    forwardedMsMax,
  );
};

const readSecrets = (ownCluster: Cluster): Promise<string> =>
  ownCluster.kubectl(["get", "secret", "payment-links-quickstart", "--output", "jsonpath={.data}"]);
