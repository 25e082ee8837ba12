import { relative, sep } from "node:path";
import { fileURLToPath } from "node:url";
import { findBreach } from "./find-breach.ts";

const root = fileURLToPath(new URL("../..", import.meta.url));

type Importing = { source: { value?: unknown } | null };
type Context = {
  physicalFilename: string;
  report(fault: { node: Importing; message: string }): void;
};

const create = (context: Context) => {
  const path = relative(root, context.physicalFilename).split(sep).join("/");
  const judge = (node: Importing) => {
    if (typeof node.source?.value !== "string") return;
    const message = findBreach(path, node.source.value);
    if (message !== undefined) context.report({ node, message });
  };
  return {
    ImportDeclaration: judge,
    ExportNamedDeclaration: judge,
    ExportAllDeclaration: judge,
    ImportExpression: judge,
    TSImportType: judge,
  };
};

/** The arrows between the rooms as a rule for oxlint. Importing a type is an arrow too. */
export default { meta: { name: "rooms" }, rules: { arrows: { create } } };
