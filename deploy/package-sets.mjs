// Determines which packages of the lockfile a command requires. `npm start` requires the dependencies;
// all other commands also require the devDependencies. npm marks these in the lockfile.

/**
 * Returns true if every required package is installed in the version of the lockfile.
 * `installedPackages` is npm's record of node_modules.
 */
export const hasRequiredPackages = (lockedPackages, installedPackages, { withDev }) =>
  listRequiredPackages(lockedPackages, { withDev }).every((path) =>
    isSameVersion(lockedPackages, installedPackages, path),
  );

/**
 * Returns the paths of the required packages. Optional packages are not required, because they are
 * builds for other platforms or compilers that a library can do without.
 */
export const listRequiredPackages = (lockedPackages, { withDev }) =>
  Object.entries(lockedPackages)
    // The path '' is the root package.
    .filter(([path, { optional }]) => path !== "" && !optional)
    .filter(([, { dev, devOptional }]) => withDev || !(dev || devOptional))
    .map(([path]) => path);

/**
 * Returns true if any devDependency is installed. In this case, an update must install all of them,
 * because npm would otherwise remove the installed ones.
 */
export const hasDevPackages = (installedPackages) =>
  Object.values(installedPackages).some(({ dev }) => dev === true);

/**
 * Returns the paths of the packages that the next install writes. A killed install may have left an
 * incomplete package there, which npm would consider complete.
 */
export const listPackagesToInstall = (lockedPackages, installedPackages) =>
  Object.keys(lockedPackages).filter(
    (path) =>
      path.includes("node_modules/") &&
      !lockedPackages[path].link &&
      !isSameVersion(lockedPackages, installedPackages, path),
  );

const isSameVersion = (lockedPackages, installedPackages, path) =>
  path in installedPackages && installedPackages[path].version === lockedPackages[path].version;
