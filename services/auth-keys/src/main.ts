import { runProcess } from "@payment-links/process";
import { authKeysConfig, createAuthKeys, authKeysMigration } from "./service.ts";

await runProcess(
  {
    name: "auth-keys",
    config: authKeysConfig,
    migration: authKeysMigration,
    create: createAuthKeys,
  },
  process.env,
);
