import { type ImportRules, packages, serviceLayers } from "./import-rules.ts";

/** The README with its pictures of the table of rooms drawn again. */
export const updateDependencyCharts = (readme: string): string =>
  readme.replace(
    /(<!-- arrows -->\n)[^]*(<!-- \/arrows -->)/,
    (_all, startMarker: string, endMarker: string) =>
      `${startMarker}${renderDependencyCharts()}\n${endMarker}`,
  );

/** The whole repository, and the inside of a service. */
const renderDependencyCharts = (): string =>
  [
    "```mermaid",
    "flowchart TD",
    ...renderArrows({ ...packages, services: { packages: listServicePackages() } }, "packages"),
    "  deploy --> services",
    "```",
    "",
    "```mermaid",
    "flowchart TD",
    ...Object.entries(serviceLayers).map(formatNode),
    ...renderArrows(serviceLayers, "layers"),
    "```",
  ].join("\n");

const listServicePackages = () =>
  Object.keys(packages)
    .filter((name) =>
      Object.values(serviceLayers).some((importRules) =>
        listImports(importRules, "packages").includes(name),
      ),
    )
    .join(" ");

const formatNode = ([name, importRules]: [string, ImportRules]) =>
  `  ${name}["<b>${name}</b><br/>${listImports(importRules, "packages").join(", ") || "&nbsp;"}"]`;

/** Drawn from the top down, without arrows that a longer way already implies. */
const renderArrows = (
  rulesByName: Record<string, ImportRules>,
  kind: keyof ImportRules,
): string[] =>
  Object.keys(rulesByName)
    .toReversed()
    .flatMap((source) => {
      const directImports = listImports(rulesByName[source], kind);
      const indirectImports = new Set(
        directImports.flatMap((name) => [...collectImports(rulesByName, kind, name)]),
      );
      const drawnImports = directImports.filter((name) => !indirectImports.has(name));
      return drawnImports.length === 0 ? [] : [`  ${source} --> ${drawnImports.join(" & ")}`];
    });

const collectImports = (
  rulesByName: Record<string, ImportRules>,
  kind: keyof ImportRules,
  source: string,
): Set<string> =>
  new Set(
    listImports(rulesByName[source], kind).flatMap((name) => [
      name,
      ...collectImports(rulesByName, kind, name),
    ]),
  );

const listImports = (importRules: ImportRules | undefined, kind: keyof ImportRules): string[] =>
  importRules?.[kind]?.split(" ") ?? [];
