// Replaces `@jest/globals` when Node loads a test file without Jest's module system.
export let afterAll, afterEach, beforeAll, beforeEach, describe, expect, test;

/** Sets the exported globals. Must be called before the test file is loaded. */
export const setGlobals = (globals) => {
  ({ afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } = globals);
};
