// What the test files of one process share: opened by the first file that needs it, closed with the
// process.
type Rig = { close(): unknown };

const rigs = new Map<string, Promise<Rig>>();

/** Opens the rig of that name, unless a file of this process already has. */
export const getSharedRig = <SharedRig extends Rig>(
  name: string,
  createRig: () => Promise<SharedRig>,
): Promise<SharedRig> => {
  const rigPromise = (rigs.get(name) as Promise<SharedRig> | undefined) ?? createRig();
  rigs.set(name, rigPromise);
  return rigPromise;
};

/** True once this process has opened one. */
export const hasSharedRigs = (): boolean => rigs.size > 0;

/** Closes all, the newest first. */
export const closeSharedRigs = async (): Promise<void> => {
  for (const rig of [...rigs.values()].toReversed()) await (await rig).close();
};
