import { runProcess } from "@payment-links/process";
import { authKeysConfig, createAuthKeys } from "./service.ts";

await runProcess(
  { name: "auth-keys", config: authKeysConfig, create: createAuthKeys },
  process.env,
);
