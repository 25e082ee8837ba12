/** npm's records of packages, by paths such as `node_modules/pg`. */
export type Packages = Record<
  string,
  { version?: string; link?: boolean; dev?: boolean; optional?: boolean; devOptional?: boolean }
>;

type PackageOptions = { withDev: boolean };

export const hasRequiredPackages: (
  lockedPackages: Packages,
  installedPackages: Packages,
  options: PackageOptions,
) => boolean;
export const listRequiredPackages: (lockedPackages: Packages, options: PackageOptions) => string[];
export const hasDevPackages: (installedPackages: Packages) => boolean;
export const listPackagesToInstall: (
  lockedPackages: Packages,
  installedPackages: Packages,
) => string[];
