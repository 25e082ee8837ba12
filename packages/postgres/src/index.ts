export { type Migration, migrate } from "./migrate.ts";
export { type Pool, openPool } from "./pool.ts";
