import { chmod, mkdtemp, readFile, rm, symlink, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "@jest/globals";
import { findTool } from "../rig/find-tool.ts";
import { findKafka } from "./kafka.ts";
import { whatToInstall } from "./programs.ts";
import { findRedis } from "./redis.ts";

const flock = findTool("flock");
const isRoot = process.getuid?.() === 0;

/** A machine whose PATH is one folder, with a shell and nothing that runs a server. */
const { PATH: pathBefore, XDG_CACHE_HOME: cacheBefore } = process.env;
let folder = "";
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), "java-"));
  await symlink("/bin/sh", join(folder, "sh"));
  process.env["PATH"] = folder;
  process.env["XDG_CACHE_HOME"] = folder;
});
afterEach(async () => {
  process.env["PATH"] = pathBefore;
  if (cacheBefore === undefined) delete process.env["XDG_CACHE_HOME"];
  else process.env["XDG_CACHE_HOME"] = cacheBefore;
  await rm(folder, { recursive: true });
});

const addProgram = async (name: string, lines: string): Promise<void> => {
  await writeFile(join(folder, name), `#!/bin/sh\n${lines}\n`);
  await chmod(join(folder, name), 0o755);
};

describe("a machine without Java, Maven and Docker", () => {
  test("gets one line that says what to install", async () => {
    await expect(findKafka()).rejects.toThrow(whatToInstall);
    await expect(findRedis()).rejects.toThrow(whatToInstall);
    expect(whatToInstall.split("\n")).toHaveLength(1);
    expect(whatToInstall).toContain("install Java 17 (or newer) and Maven");
  });

  const hasFlock = flock !== undefined && isRoot;
  const title = "gets both from Debian, once, where root and apt are there";
  (hasFlock ? test : test.skip)(hasFlock ? title : `${title} (no root)`, async () => {
    await symlink(flock ?? "", join(folder, "flock"));
    const [java, mvn] = [join(folder, "java"), join(folder, "mvn")];
    await addProgram(
      "apt-get",
      `echo "$@" >> ${join(folder, "asked")}
       if [ "$2" = install ]; then
         printf '#!/bin/sh\\necho "openjdk version \\\\"17.0.21\\\\"" >&2\\n' > ${java}
         printf '#!/bin/sh\\necho Apache Maven\\n' > ${mvn}
         /bin/chmod 755 ${java} ${mvn}
       fi`,
    );
    await findKafka();
    await findRedis();
    expect(await readFile(join(folder, "asked"), "utf8")).toBe(
      "-qq update\n-qq install --no-install-recommends default-jre-headless maven\n",
    );
  });

  test("gets the line all the same where apt brings nothing", async () => {
    if (flock !== undefined) await symlink(flock, join(folder, "flock"));
    await addProgram("apt-get", "echo no mirror answers >&2; exit 100");
    await expect(findKafka()).rejects.toThrow(whatToInstall);
  });
});
