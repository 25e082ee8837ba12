import { runPrepare } from "@payment-links/process";
import { webhookDispatcherMigration } from "./service.ts";

await runPrepare("webhook-dispatcher", webhookDispatcherMigration, process.env);
