import { afterAll, beforeAll } from "@jest/globals";

/**
 * What all tests of a file stand on: opened before the first, closed after the last. Its members are
 * there once the tests run, so a test uses it as if it had been open all along.
 */
export const useRig = <Rig extends { close(): Promise<unknown> }>(
  open: () => Promise<Rig>,
): Rig => {
  let rig: Rig | undefined;
  beforeAll(async () => {
    rig = await open();
  });
  afterAll(() => rig?.close());
  return new Proxy({} as Rig, {
    get: (_, name) => {
      if (rig === undefined) throw new Error(`no ${String(name)} before the tests run`);
      return Reflect.get(rig, name);
    },
  });
};
