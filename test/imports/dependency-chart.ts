import { type ImportRules, packages, serviceLayers } from "./import-rules.ts";

/** Returns the text of a page, with its dependency charts regenerated from the import rules. */
export const updateDependencyCharts = (page: string): string =>
  page
    .replace(/(?<=<!-- package-chart -->\n)[^]*(?=<!-- \/package-chart -->)/, renderPackageChart)
    .replace(/(?<=<!-- layer-chart -->\n)[^]*(?=<!-- \/layer-chart -->)/, renderLayerChart);

const renderPackageChart = (): string =>
  formatChart([
    ...renderArrows({ ...packages, services: { packages: listServicePackages() } }, "packages"),
    "  deploy --> services & local-chains",
  ]);

const renderLayerChart = (): string =>
  formatChart([
    ...Object.entries(serviceLayers).map(formatNode),
    ...renderArrows(serviceLayers, "layers"),
  ]);

const formatChart = (lines: readonly string[]): string =>
  ["```mermaid", "flowchart TD", ...lines, "```", ""].join("\n");

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

/** Renders the arrows from top to bottom. Omits an arrow if a longer path implies it. */
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
