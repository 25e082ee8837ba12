import { mkdtemp, rm, stat, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "@jest/globals";
import { prepareDataDir } from "./data-dir.ts";

describe("the data folder (rule OPS-8)", () => {
  let parentDirectory = "";
  beforeEach(async () => {
    parentDirectory = await mkdtemp(join(tmpdir(), "data-dir-"));
  });
  afterEach(() => rm(parentDirectory, { recursive: true }));

  const prepareTestDataDir = (name: string, isDemoAllowed: boolean) =>
    prepareDataDir(join(parentDirectory, name), { isDemoAllowed });

  test("has the same seal key on every start, in a file that only its owner can read", async () => {
    const firstKeys = prepareTestDataDir("data", false).webhookSecretKeys;
    expect(firstKeys).toMatchObject({
      file: join(parentDirectory, "data", "secret.key"),
      isNew: true,
    });
    expect((await stat(firstKeys.file)).mode & 0o777).toBe(0o600);
    expect(prepareTestDataDir("data", false).webhookSecretKeys).toEqual({
      ...firstKeys,
      isNew: false,
    });
    expect(prepareTestDataDir("other", false).webhookSecretKeys.value).not.toBe(firstKeys.value);
  });

  test("gives a new seal key a new name, so that it is not mistaken for a lost one", () => {
    const [firstKeys, second] = ["data", "other"].map((name) => {
      const [keyName] = prepareTestDataDir(name, false).webhookSecretKeys.value.split("=");
      return keyName;
    });
    expect(firstKeys).toMatch(/^local-[0-9a-f]{8}$/);
    expect(second).not.toBe(firstKeys);
  });

  test("has a demo only if it was empty at first, with a random secret", async () => {
    const { demoSecret, isDemoWanted } = prepareTestDataDir("data", true);
    expect(isDemoWanted).toBe(true);
    expect(demoSecret).toMatch(/^whsec_[A-Za-z0-9+/]{32}$/);
    expect(prepareTestDataDir("other", true).demoSecret).not.toBe(demoSecret);
    await writeFile(join(parentDirectory, "a file"), "");
    expect(prepareTestDataDir("", true)).toMatchObject({
      demoSecret: undefined,
      isDemoWanted: false,
    });
  });

  test("has no demo in production, even if one was created before", () => {
    prepareTestDataDir("data", true);
    expect(prepareTestDataDir("data", false)).toMatchObject({
      demoSecret: undefined,
      isDemoWanted: false,
    });
  });
});
