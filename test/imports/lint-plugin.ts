import { relative, sep } from "node:path";
import { fileURLToPath } from "node:url";
import { findImportViolation } from "./find-import-violation.ts";

const root = fileURLToPath(new URL("../..", import.meta.url));

type ImportNode = { source: { value?: unknown } | null };
type Context = {
  physicalFilename: string;
  report(problem: { node: ImportNode; message: string }): void;
};

const create = (context: Context) => {
  const path = relative(root, context.physicalFilename).split(sep).join("/");
  const checkImport = (node: ImportNode) => {
    if (typeof node.source?.value !== "string") return;
    const message = findImportViolation(path, node.source.value);
    if (message !== undefined) context.report({ node, message });
  };
  return {
    ImportDeclaration: checkImport,
    ExportNamedDeclaration: checkImport,
    ExportAllDeclaration: checkImport,
    ImportExpression: checkImport,
    TSImportType: checkImport,
  };
};

/** The import rules as an oxlint rule. They also apply to type imports. */
export default { meta: { name: "imports" }, rules: { allowed: { create } } };
