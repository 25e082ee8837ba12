import assert from "node:assert/strict";
import { readFile } from "node:fs/promises";
import type { Release } from "./release.ts";

const permissionDenied = "42501";

/**
 * Asserts that the migrations Job created the topics with the correct settings, and that the
 * database roles have only the privileges that they need.
 */
export const assertPrepared = async ({ cluster, name }: Release): Promise<void> => {
  const source = await readFile(new URL("in-cluster/tell-prepared.mjs", import.meta.url), "utf8");
  const nodeCommand = ["node", "--input-type=module", "--eval", source];
  const output = await cluster.kubectl([
    "exec",
    `deployment/${name}-links-api`,
    "--",
    ...nodeCommand,
  ]);
  assert.deepEqual(JSON.parse(output), {
    topics: [
      "accounts.v1: 12 compact",
      "accounts.v1.dead-letter: 1 delete",
      "audit.v1: 12 delete",
      "audit.v1.dead-letter: 1 delete",
      "notifications.v1: 12 delete",
      "notifications.v1.dead-letter: 1 delete",
      "owner-images.v1: 12 compact",
      "owner-images.v1.dead-letter: 1 delete",
      "payment-links.v1: 12 compact",
      "payment-links.v1.dead-letter: 1 delete",
      "settlements.v1: 12 delete",
      "settlements.v1.dead-letter: 1 delete",
    ],
    statements: {
      "SELECT FROM links_api.links LIMIT 1": "done",
      "SELECT FROM auth_keys.api_keys LIMIT 1": permissionDenied,
      "SELECT FROM webhook_dispatcher.endpoints LIMIT 1": permissionDenied,
      "SELECT FROM settlement_listener.payments LIMIT 1": permissionDenied,
      "CREATE TABLE links_api.more ()": permissionDenied,
      "CREATE TABLE public.more ()": permissionDenied,
      "CREATE ROLE more": permissionDenied,
    },
  });
};
