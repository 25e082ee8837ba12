// Stores the rigs that the test files of one process share. The first file that needs a rig creates
// it. It is closed before the process exits.
type Rig = { close(): unknown };

const rigs = new Map<string, Promise<Rig>>();

/** Returns the rig with that name. Creates it on first use. */
export const getSharedRig = <SharedRig extends Rig>(
  name: string,
  createRig: () => Promise<SharedRig>,
): Promise<SharedRig> => {
  const rigPromise = (rigs.get(name) as Promise<SharedRig> | undefined) ?? createRig();
  rigs.set(name, rigPromise);
  return rigPromise;
};

/** Returns whether this process has created a shared rig. */
export const hasSharedRigs = (): boolean => rigs.size > 0;

/** Closes all rigs, starting with the newest. */
export const closeSharedRigs = async (): Promise<void> => {
  for (const rig of [...rigs.values()].toReversed()) await (await rig).close();
};
