// Which packages of the lockfile a command needs, by the flags that npm writes there. `npm start` needs
// the dependencies; every other command needs the devDependencies too.

/**
 * Returns true if `installed`, npm's record of node_modules, has each package of the lockfile that
 * is needed, in the same version.
 */
export const hasPackages = (locked, installed, { withDev }) =>
  listNeeded(locked, { withDev }).every((path) => isSameVersion(locked, installed, path));

/**
 * Returns the paths of the packages that are needed. Optional packages are never needed: they are
 * those of other platforms, and compilers that a library may use.
 */
export const listNeeded = (locked, { withDev }) =>
  Object.entries(locked)
    // The path '' is the root itself.
    .filter(([path, { optional }]) => path !== "" && !optional)
    .filter(([, { dev, devOptional }]) => withDev || !(dev || devOptional))
    .map(([path]) => path);

/**
 * Returns true if a devDependency is installed. Then an update installs them all: without them, npm
 * would remove the ones that are there.
 */
export const hasDevPackages = (installed) =>
  Object.values(installed).some(({ dev }) => dev === true);

/**
 * Returns the paths of packages that the next install writes. If an earlier one was killed, half of a
 * package may be there, which npm would take for all of it.
 */
export const listUnfinished = (locked, installed) =>
  Object.keys(locked).filter(
    (path) =>
      path.includes("node_modules/") &&
      !locked[path].link &&
      !isSameVersion(locked, installed, path),
  );

const isSameVersion = (locked, installed, path) =>
  path in installed && installed[path].version === locked[path].version;
