// Decides which packages of the lockfile a command requires, by the flags that npm writes there.
// `npm start` requires the dependencies; every other command also requires the devDependencies.

/**
 * Returns true if every required package of the lockfile is installed in the same version.
 * `installedPackages` is npm's record of node_modules.
 */
export const hasRequiredPackages = (lockedPackages, installedPackages, { withDev }) =>
  listRequiredPackages(lockedPackages, { withDev }).every((path) =>
    isSameVersion(lockedPackages, installedPackages, path),
  );

/**
 * Returns the paths of the required packages. Optional packages are never required: they are builds
 * for other platforms, and compilers that a library may use.
 */
export const listRequiredPackages = (lockedPackages, { withDev }) =>
  Object.entries(lockedPackages)
    // The path '' is the root package.
    .filter(([path, { optional }]) => path !== "" && !optional)
    .filter(([, { dev, devOptional }]) => withDev || !(dev || devOptional))
    .map(([path]) => path);

/**
 * Returns true if a devDependency is installed. An update must then install all of them, because npm
 * would otherwise remove the installed ones.
 */
export const hasDevPackages = (installedPackages) =>
  Object.values(installedPackages).some(({ dev }) => dev === true);

/**
 * Returns the paths of the packages that the next install writes. An install that was killed may have
 * left half of a package, which npm would consider complete.
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
