import { afterAll, afterEach, beforeAll, beforeEach } from "@jest/globals";

type Closable = { close(): unknown };
/** Has something closed after the test that opens it; answers it. */
type Keep = <Kept extends Closable>(opened: Kept) => Kept;

/**
 * What all tests of a file stand on: opened before the first, closed after the last. Its members are
 * there once the tests run, so a test uses it as if it had been open all along.
 */
export const useRig = <Rig extends Closable>(open: () => Promise<Rig>): Rig => {
  let rig: Rig | undefined;
  beforeAll(async () => {
    rig = await open();
  });
  afterAll(async () => {
    await rig?.close();
  });
  return membersOf(() => rig);
};

/** The same for each test by itself, together with what is opened below it and kept. */
export const useRigEach = <Rig extends Closable>(open: (keep: Keep) => Promise<Rig>): Rig => {
  const keep = closeAfterEach();
  let rig: Rig | undefined;
  beforeEach(async () => {
    rig = keep(await open(keep));
  });
  return membersOf(() => rig);
};

/** Closes what a test keeps after that test, the newest first. */
export const closeAfterEach = (): Keep => {
  const kept: Closable[] = [];
  afterEach(async () => {
    for (const opened of kept.splice(0).toReversed()) await opened.close();
  });
  return (opened) => {
    kept.push(opened);
    return opened;
  };
};

/** Stands for something that is found only later. */
export const membersOf = <Rig extends object>(find: () => Rig | undefined): Rig =>
  new Proxy({} as Rig, {
    get: (_, name) => {
      const rig = find();
      if (rig === undefined) throw new Error(`no ${String(name)} before the tests run`);
      return Reflect.get(rig, name);
    },
  });
