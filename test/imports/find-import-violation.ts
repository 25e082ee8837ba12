import { posix } from "node:path";
import { type ImportRules, libraryOwners, packages, serviceLayers } from "./import-rules.ts";

/**
 * Returns the reason why the file at `path` (relative to the root) must not import `specifier`, or
 * undefined if the import is allowed. Tests and files in `testing` folders can import anything.
 * Only they are allowed to import from `testing` folders.
 */
export const findImportViolation = (path: string, specifier: string): string | undefined => {
  const importer = locateFile(path);
  if (importer.isTest) return undefined;
  if (specifier.startsWith(".")) {
    return findInternalViolation(importer, locateFile(posix.join(path, "..", specifier)));
  }
  const [scope, name = "", ...subpath] = specifier.split("/");
  if (scope !== "@payment-links") return findLibraryViolation(importer, specifier);
  if (subpath[0] === "testing") return testingMessage;
  if (importer.workspace === "deploy") return undefined;
  if (`${name}/${subpath.join("/")}` === readers)
    return requireListed(importer, "packages", readers);
  const isEntry = subpath.length === 0 || isListed(subpath.join("/"), packages[name]?.entries);
  return isEntry ? requireListed(importer, "packages", name) : notIndexMessage;
};

const readers = "chains/readers";
const readersPattern = /^packages\/chains\/src\/(?:readers\.ts$|(?:\w+\/)?(?:reads|rpc)\/)/;
const notIndexMessage = "Import a package only through its index or a listed entry.";
const testingMessage = "Only tests may import from testing folders.";

const locateFile = (path: string) => {
  const [kind = "", name = "", , entryName = ""] = path.split("/");
  const isTest = kind === "test" || /\.(test|contract)\.ts$|\/testing(\/|\.ts$)/.test(path);
  if (kind === "services") {
    const layer = entryName.replace(/\.\w+$/, "");
    return { workspace: `services/${name}`, layer, rules: serviceLayers[layer], isTest };
  }
  if (kind !== "packages") return { workspace: kind, layer: kind, rules: undefined, isTest };
  const workspace = `packages/${name}`;
  const rulesName = readersPattern.test(path) ? readers : name;
  return { workspace, layer: `packages/${rulesName}`, rules: packages[rulesName], isTest };
};

type FileLocation = ReturnType<typeof locateFile>;

const findInternalViolation = (
  importer: FileLocation,
  imported: FileLocation,
): string | undefined => {
  if (imported.isTest) return testingMessage;
  if (imported.workspace !== importer.workspace) return notIndexMessage;
  return imported.layer === importer.layer
    ? undefined
    : requireListed(importer, "layers", imported.layer);
};

const findLibraryViolation = (importer: FileLocation, library: string): string | undefined => {
  if (importer.rules?.libraries !== undefined) return requireListed(importer, "libraries", library);
  const restrictedLibrary = Object.keys(libraryOwners).find((name) => isListed(library, name));
  if (restrictedLibrary === undefined || isListed(importer.layer, libraryOwners[restrictedLibrary]))
    return undefined;
  return `${restrictedLibrary} may be imported only by ${libraryOwners[restrictedLibrary]}.`;
};

const requireListed = ({ layer, rules }: FileLocation, kind: keyof ImportRules, name: string) =>
  (kind === "packages" ? rules?.packages?.split(" ").includes(name) : isListed(name, rules?.[kind]))
    ? undefined
    : `${layer} may not import ${name}, only these ${kind}: ${rules?.[kind] ?? "none"}.`;

/** A path into a library belongs to the library. */
const isListed = (name: string, listedNames = ""): boolean =>
  listedNames
    .split(" ")
    .some((listedName) => name === listedName || name.startsWith(`${listedName}/`));
