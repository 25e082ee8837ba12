import { afterAll, afterEach, beforeAll, beforeEach } from "@jest/globals";

type Closable = { close(): unknown };
/** Has something closed after the test that opens it; answers it. */
type CloseAfterTest = <Resource extends Closable>(resource: Resource) => Resource;

/**
 * What all tests of a file stand on: opened before the first, closed after the last. Its members are
 * there once the tests run, so a test uses it as if it had been open all along.
 */
export const useRig = <Rig extends Closable>(createRig: () => Promise<Rig>): Rig => {
  let rig: Rig | undefined;
  beforeAll(async () => {
    rig = await createRig();
  });
  afterAll(async () => {
    await rig?.close();
  });
  return createLazyProxy(() => rig);
};

/** The same for each test by itself, together with what is opened below it and kept. */
export const useRigEach = <Rig extends Closable>(
  createRig: (closeAfterTest: CloseAfterTest) => Promise<Rig>,
): Rig => {
  const closeAfterTest = closeAfterEach();
  let rig: Rig | undefined;
  beforeEach(async () => {
    rig = closeAfterTest(await createRig(closeAfterTest));
  });
  return createLazyProxy(() => rig);
};

/** Closes what a test keeps after that test, the newest first. */
export const closeAfterEach = (): CloseAfterTest => {
  const resources: Closable[] = [];
  afterEach(async () => {
    for (const resource of resources.splice(0).toReversed()) await resource.close();
  });
  return (resource) => {
    resources.push(resource);
    return resource;
  };
};

/** Stands for something that is found only later. */
export const createLazyProxy = <Target extends object>(
  getTarget: () => Target | undefined,
): Target =>
  new Proxy({} as Target, {
    get: (_, property) => {
      const target = getTarget();
      if (target === undefined) throw new Error(`no ${String(property)} before the tests run`);
      return Reflect.get(target, property);
    },
  });
