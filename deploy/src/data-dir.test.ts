import { mkdtemp, rm, stat, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "@jest/globals";
import { openDataDir } from "./data-dir.ts";

describe("the data folder (rule OPS-8)", () => {
  let parent = "";
  beforeEach(async () => {
    parent = await mkdtemp(join(tmpdir(), "data-dir-"));
  });
  afterEach(() => rm(parent, { recursive: true }));

  const open = (name: string, withDemo: boolean) => openDataDir(join(parent, name), { withDemo });

  test("has one seal key for every start, in a file that only its owner can read", async () => {
    const first = open("data", false).webhookSecretKeys;
    expect(first).toMatchObject({ file: join(parent, "data", "secret.key"), isNew: true });
    expect((await stat(first.file)).mode & 0o777).toBe(0o600);
    expect(open("data", false).webhookSecretKeys).toEqual({ ...first, isNew: false });
    expect(open("other", false).webhookSecretKeys.value).not.toBe(first.value);
  });

  test("gives a new seal key a new name, so that it cannot pass for a lost one", () => {
    const [first, second] = ["data", "other"].map((name) => {
      const [keyName] = open(name, false).webhookSecretKeys.value.split("=");
      return keyName;
    });
    expect(first).toMatch(/^local-[0-9a-f]{8}$/);
    expect(second).not.toBe(first);
  });

  test("has a demo only if it was empty, with a random secret", async () => {
    const { demoSecret, isDemoWanted } = open("data", true);
    expect(isDemoWanted).toBe(true);
    expect(demoSecret).toMatch(/^whsec_[A-Za-z0-9+/]{32}$/);
    expect(open("other", true).demoSecret).not.toBe(demoSecret);
    await writeFile(join(parent, "a file"), "");
    expect(open("", true)).toMatchObject({ demoSecret: undefined, isDemoWanted: false });
  });

  test("has no demo in production, even where one was made before", () => {
    open("data", true);
    expect(open("data", false)).toMatchObject({ demoSecret: undefined, isDemoWanted: false });
  });
});
