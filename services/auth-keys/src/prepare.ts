import { runPrepare } from "@payment-links/process";
import { authKeysMigration } from "./service.ts";

await runPrepare("auth-keys", authKeysMigration, process.env);
