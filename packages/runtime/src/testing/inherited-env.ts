/**
 * Returns the environment variables that a test's child process inherits: the path, and Node's
 * compile cache, which halves the startup time.
 */
export const getInheritedEnv = (): Record<string, string> => {
  const { PATH = "", NODE_COMPILE_CACHE } = process.env;
  return { PATH, ...(NODE_COMPILE_CACHE === undefined ? {} : { NODE_COMPILE_CACHE }) };
};
