import { execFile } from "node:child_process";
import { existsSync, readFileSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { promisify } from "node:util";
import { expect, test } from "@jest/globals";
import { dashboards } from "@payment-links/deploy/chart/dashboards";
import { projectRoot } from "../rig/child.ts";
import { runbooksFolder } from "./chart-rules.ts";

const run = promisify(execFile);

/** What a service writes into its log, its libraries included: the code of each such call. */
const logCallsOf = (service: string): string => {
  const packages = readdirSync(join(projectRoot, "packages")).map((name) => `packages/${name}`);
  const folders = [`services/${service}`, ...packages].map((room) =>
    join(projectRoot, room, "src"),
  );
  return folders
    .filter((folder) => existsSync(folder))
    .flatMap((folder) =>
      readdirSync(folder, { recursive: true }).map((file) => join(folder, String(file))),
    )
    .filter((file) => file.endsWith(".ts") && !/\.test\.ts$|\/testing\//.test(file))
    .flatMap((file) => readFileSync(file, "utf8").match(/\blog\.\w+\([^]*?\);$/gm) ?? [])
    .join("\n");
};

const runbooks = readdirSync(runbooksFolder).map((file) => ({
  file,
  text: readFileSync(join(runbooksFolder, file), "utf8"),
}));

test("runbooks look in a log for words that its service says", () => {
  const looks = runbooks.flatMap(({ file, text }) =>
    [
      ...text.matchAll(
        /(?:component=(\S+)|part-of=\S+) .*\| grep (?:-E )?(?:'([^']*)'|"([^"]*)")$/gm,
      ),
    ].map(([, service = "links-api", basic = "", extended = ""]) => ({
      file,
      service,
      words: basic === "" ? extended.split("|") : basic.split("\\|"),
    })),
  );
  expect(looks.length).toBeGreaterThan(15);
  const callsOf = new Map(
    [...new Set(looks.map(({ service }) => service))].map((service) => [
      service,
      logCallsOf(service),
    ]),
  );
  const unsaid = looks.flatMap(({ file, service, words }) => {
    const calls = callsOf.get(service) ?? "";
    const isSaid = (word: string) => word.startsWith('"level"') || calls.includes(word);
    return words.filter((word) => !isSaid(word)).map((word) => `${file}: ${service}: ${word}`);
  });
  expect(unsaid).toEqual([]);
});

test("runbooks send to dashboards that there are", () => {
  const titles = new Set(dashboards.map(({ title }) => title.replace("Payment Links / ", "")));
  const named = runbooks.flatMap(({ text }) =>
    [...text.matchAll(/dashboard \*(.*?)\*/g)].map(([, title = ""]) => title),
  );
  expect(named.length).toBeGreaterThan(1);
  expect(named.filter((title) => !titles.has(title))).toEqual([]);
});

test("runbooks give the operator's commands as these are understood", async () => {
  const commands = new Set(
    runbooks.flatMap(({ text }) =>
      [...text.matchAll(/\/app\/(deploy\/src\/admin\.ts [^`\n]*)/g)].map(
        ([, command = ""]) => command,
      ),
    ),
  );
  expect(commands.size).toBeGreaterThan(5);
  const nowhere = "http://127.0.0.1:1";
  const env = {
    ...process.env,
    AUTH_KEYS_INTERNAL_URL: nowhere,
    LINKS_API_INTERNAL_URL: nowhere,
    SETTLEMENT_LISTENER_INTERNAL_URL: nowhere,
    WEBHOOK_DISPATCHER_INTERNAL_URL: nowhere,
  };
  const understood = { code: 1, stderr: expect.stringMatching(/^nothing listens for /m) };
  for (const command of commands) {
    const given = run(process.execPath, command.split(" "), { cwd: projectRoot, env });
    await expect(given).rejects.toMatchObject(understood);
  }
});
