// What the test files of one process share. It is opened by the first file that needs it and closed
// with the process.

/** @type {Map<string, Promise<{ close(): unknown }>>} */
const rigs = new Map();

/**
 * @template {{ close(): unknown }} Rig
 * @param {string} name
 * @param {() => Promise<Rig>} open
 * @returns {Promise<Rig>}
 */
export const openShared = (name, open) => {
  const opened = /** @type {Promise<Rig> | undefined} */ (rigs.get(name)) ?? open();
  rigs.set(name, opened);
  return opened;
};

export const hasShared = () => rigs.size > 0;

/** Closes all, the newest first. */
export const closeShared = async () => {
  for (const rig of [...rigs.values()].toReversed()) await (await rig).close();
};
