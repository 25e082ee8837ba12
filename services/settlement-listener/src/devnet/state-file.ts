import { access, readFile, rename } from "node:fs/promises";

const writeEverySeconds = 10;

/**
 * Where a chain's state is kept over restarts. The node writes a draft, now and then and when it ends;
 * a draft that is whole takes the file's place, so that a kill in the middle of writing costs what
 * came since the last one and never the chain.
 */
export const stateFlags = async (file: string): Promise<string[]> => {
  const write = ["--dump-state", draftOf(file), "--state-interval", String(writeEverySeconds)];
  return (await isThere(file)) ? [...write, "--load-state", file] : write;
};

/** Lets the last draft take the file's place, if it is whole. */
export const adoptDraft = async (file: string): Promise<void> => {
  const draft = draftOf(file);
  if (await isWhole(draft)) await rename(draft, file);
};

const draftOf = (file: string): string => `${file}.draft`;

const isThere = (file: string): Promise<boolean> =>
  access(file).then(
    () => true,
    () => false,
  );

const isWhole = async (file: string): Promise<boolean> => {
  try {
    JSON.parse(await readFile(file, "utf8"));
    return true;
  } catch {
    return false;
  }
};
