// Stands for `@jest/globals` where a test file is loaded by Node itself.
export let afterAll, afterEach, beforeAll, beforeEach, describe, expect, test;

/** Takes them from the framework, before the test file is loaded. */
export const setGlobals = (globals) => {
  ({ afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } = globals);
};
