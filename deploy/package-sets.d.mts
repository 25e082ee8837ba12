/** A path such as `node_modules/pg`, and what npm records of the package there. */
export type Packages = Record<
  string,
  { version?: string; link?: boolean; dev?: boolean; optional?: boolean; devOptional?: boolean }
>;

type PackageSet = { withDev: boolean };

export const hasPackages: (locked: Packages, installed: Packages, set: PackageSet) => boolean;
export const listNeeded: (locked: Packages, set: PackageSet) => string[];
export const hasDevPackages: (installed: Packages) => boolean;
export const listUnfinished: (locked: Packages, installed: Packages) => string[];
