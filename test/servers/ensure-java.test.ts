import { chmod, mkdtemp, readFile, rm, symlink, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "@jest/globals";
import { findTool } from "../rig/find-tool.ts";
import { findKafka } from "./kafka.ts";
import { installInstructions } from "./programs.ts";
import { findRedis } from "./redis.ts";

const flock = findTool("flock");
const isRoot = process.getuid?.() === 0;

/** Simulates a machine whose PATH is one folder that contains a shell and no server program. */
const { PATH: originalPath, XDG_CACHE_HOME: originalCacheHome } = process.env;
let directory = "";
beforeEach(async () => {
  directory = await mkdtemp(join(tmpdir(), "java-"));
  await symlink("/bin/sh", join(directory, "sh"));
  process.env["PATH"] = directory;
  process.env["XDG_CACHE_HOME"] = directory;
});
afterEach(async () => {
  process.env["PATH"] = originalPath;
  if (originalCacheHome === undefined) delete process.env["XDG_CACHE_HOME"];
  else process.env["XDG_CACHE_HOME"] = originalCacheHome;
  await rm(directory, { recursive: true });
});

const addFakeProgram = async (name: string, lines: string): Promise<void> => {
  await writeFile(join(directory, name), `#!/bin/sh\n${lines}\n`);
  await chmod(join(directory, name), 0o755);
};

describe("a machine without Java, Maven and Docker", () => {
  test("gets one line that says what to install", async () => {
    await expect(findKafka()).rejects.toThrow(installInstructions);
    await expect(findRedis()).rejects.toThrow(installInstructions);
    expect(installInstructions.split("\n")).toHaveLength(1);
    expect(installInstructions).toContain("install Java 17 (or newer) and Maven");
  });

  const hasFlock = flock !== undefined && isRoot;
  const testTitle = "installs both from Debian, once, if root and apt are available";
  (hasFlock ? test : test.skip)(hasFlock ? testTitle : `${testTitle} (no root)`, async () => {
    await symlink(flock ?? "", join(directory, "flock"));
    const [javaPath, mavenPath] = [join(directory, "java"), join(directory, "mvn")];
    await addFakeProgram(
      "apt-get",
      `echo "$@" >> ${join(directory, "asked")}
       if [ "$2" = install ]; then
         printf '#!/bin/sh\\necho "openjdk version \\\\"17.0.21\\\\"" >&2\\n' > ${javaPath}
         printf '#!/bin/sh\\necho Apache Maven\\n' > ${mavenPath}
         /bin/chmod 755 ${javaPath} ${mavenPath}
       fi`,
    );
    await findKafka();
    await findRedis();
    expect(await readFile(join(directory, "asked"), "utf8")).toBe(
      "-qq update\n-qq install --no-install-recommends default-jre-headless maven\n",
    );
  });

  test("gets the same line when apt can install nothing", async () => {
    if (flock !== undefined) await symlink(flock, join(directory, "flock"));
    await addFakeProgram("apt-get", "echo no mirror answers >&2; exit 100");
    await expect(findKafka()).rejects.toThrow(installInstructions);
  });
});
