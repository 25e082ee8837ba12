import { execFile } from "node:child_process";
import { existsSync, readFileSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { promisify } from "node:util";
import { expect, test } from "@jest/globals";
import { dashboards } from "@payment-links/deploy/chart/dashboards";
import { buildAdminEnv } from "../rig/build-admin-env.ts";
import { projectRoot } from "../rig/child.ts";
import { runbooksFolder } from "./chart-rules.ts";

const runFile = promisify(execFile);

/** Returns the source code of every log call in a service and in the shared packages. */
const readLogCalls = (service: string): string => {
  const packages = readdirSync(join(projectRoot, "packages")).map((name) => `packages/${name}`);
  const folders = [`services/${service}`, ...packages].map((packageFolder) =>
    join(projectRoot, packageFolder, "src"),
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

test("runbooks search logs only for texts that the service writes", () => {
  const logSearches = runbooks.flatMap(({ file, text }) =>
    [
      ...text.matchAll(
        /(?:component=(\S+)|part-of=\S+) .*\| grep (?:-E )?(?:'([^']*)'|"([^"]*)")$/gm,
      ),
    ].map(([, service = "links-api", basic = "", extended = ""]) => ({
      file,
      service,
      searchTerms: basic === "" ? extended.split("|") : basic.split("\\|"),
    })),
  );
  expect(logSearches.length).toBeGreaterThan(15);
  const logCallsByService = new Map(
    [...new Set(logSearches.map(({ service }) => service))].map((service) => [
      service,
      readLogCalls(service),
    ]),
  );
  const missingTerms = logSearches.flatMap(({ file, service, searchTerms }) => {
    const calls = logCallsByService.get(service) ?? "";
    const isLogged = (term: string) => term.startsWith('"level"') || calls.includes(term);
    return searchTerms
      .filter((term) => !isLogged(term))
      .map((term) => `${file}: ${service}: ${term}`);
  });
  expect(missingTerms).toEqual([]);
});

test("runbooks refer only to dashboards that exist", () => {
  const titles = new Set(dashboards.map(({ title }) => title.replace("Payment Links / ", "")));
  const namedDashboards = runbooks.flatMap(({ text }) =>
    [...text.matchAll(/dashboard \*(.*?)\*/g)].map(([, title = ""]) => title),
  );
  expect(namedDashboards.length).toBeGreaterThan(1);
  expect(namedDashboards.filter((title) => !titles.has(title))).toEqual([]);
});

test("runbooks contain only commands that the operator's tool accepts", async () => {
  const commands = new Set(
    runbooks.flatMap(({ text }) =>
      [...text.matchAll(/\/app\/(deploy\/src\/admin\.ts [^`\n]*)/g)].map(
        ([, command = ""]) => command,
      ),
    ),
  );
  expect(commands.size).toBeGreaterThan(5);
  // Nothing listens on this port.
  const env = { ...process.env, ...buildAdminEnv("http://127.0.0.1:1") };
  const expectedFailure = { code: 1, stderr: expect.stringMatching(/^cannot connect to /m) };
  for (const command of commands) {
    const commandRun = runFile(process.execPath, command.split(" "), { cwd: projectRoot, env });
    await expect(commandRun).rejects.toMatchObject(expectedFailure);
  }
});
