/** The generated module of the console, seen from the root. */
export const operationsFile = "packages/console/app/api/operations.ts";
