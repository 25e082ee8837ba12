import { createTestDatabase } from "@payment-links/postgres/testing";
import { openBenchPostgres } from "./bench-postgres.ts";

type Schemas = Parameters<typeof createTestDatabase>[0];

/** Makes a database for a bench. */
export const openBenchDatabase = async (schemas: Schemas) => {
  const postgres = await openBenchPostgres();
  const database = await createTestDatabase(schemas);
  return {
    adminUrl: database.adminUrl,
    urlOf: (role: string) => database.urlOf(role),
    close: async () => {
      await database.drop();
      await postgres.close();
    },
  };
};
