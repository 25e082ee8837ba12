import { runProcess } from "@payment-links/process";
import { createLinksApi, linksApiConfig, linksApiMigration } from "./service.ts";

await runProcess(
  {
    name: "links-api",
    config: linksApiConfig,
    migration: linksApiMigration,
    create: createLinksApi,
  },
  process.env,
);
