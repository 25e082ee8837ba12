import { afterAll, afterEach, beforeAll, beforeEach } from "@jest/globals";

type Closable = { close(): unknown };
/** Registers a resource to be closed after the current test, and returns it. */
type CloseAfterTest = <Resource extends Closable>(resource: Resource) => Resource;

/**
 * Creates a rig before the first test of a file and closes it after the last. Returns a proxy whose
 * members can be used once the tests run.
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

/**
 * Creates a new rig for each test. Closes it, and everything registered with `closeAfterTest`,
 * after the test.
 */
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

/**
 * Returns a function that registers resources. After each test, they are closed in reverse order.
 */
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

/** Creates a proxy for an object that becomes available later. */
export const createLazyProxy = <Target extends object>(
  getTarget: () => Target | undefined,
): Target =>
  new Proxy({} as Target, {
    get: (_, property) => {
      const target = getTarget();
      if (target === undefined)
        throw new Error(`${String(property)} is not available before the tests run`);
      return Reflect.get(target, property);
    },
  });
