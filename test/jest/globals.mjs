// Takes the place of `@jest/globals` when Node itself loads a test file.
export let afterAll, afterEach, beforeAll, beforeEach, describe, expect, test;

/** Takes the globals from the framework, before the test file is loaded. */
export const setGlobals = (globals) => {
  ({ afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } = globals);
};
