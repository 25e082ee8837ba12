// What the test files of one process share: opened by the first file that needs it, closed with the
// process.
type Rig = { close(): unknown };

const rigs = new Map<string, Promise<Rig>>();

/** Opens the rig of that name, unless a file of this process already has. */
export const openShared = <Opened extends Rig>(
  name: string,
  open: () => Promise<Opened>,
): Promise<Opened> => {
  const opened = (rigs.get(name) as Promise<Opened> | undefined) ?? open();
  rigs.set(name, opened);
  return opened;
};

/** True once this process has opened one. */
export const hasShared = (): boolean => rigs.size > 0;

/** Closes all, the newest first. */
export const closeShared = async (): Promise<void> => {
  for (const rig of [...rigs.values()].toReversed()) await (await rig).close();
};
