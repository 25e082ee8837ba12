import { createTestDatabase } from "@payment-links/postgres/testing";
import { startBenchPostgres } from "./bench-postgres.ts";

type Schemas = Parameters<typeof createTestDatabase>[0];

/** Creates a migrated database for a bench. */
export const createBenchDatabase = async (schemas: Schemas) => {
  const postgres = await startBenchPostgres();
  const database = await createTestDatabase(schemas);
  return {
    adminUrl: database.adminUrl,
    urlOf: (role: string) => database.getRoleUrl(role),
    close: async () => {
      await database.drop();
      await postgres.close();
    },
  };
};
