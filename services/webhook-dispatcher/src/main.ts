import { runProcess } from "@payment-links/process";
import {
  createWebhookDispatcher,
  webhookDispatcherConfig,
  webhookDispatcherMigration,
} from "./service.ts";

await runProcess(
  {
    name: "webhook-dispatcher",
    config: webhookDispatcherConfig,
    migration: webhookDispatcherMigration,
    create: createWebhookDispatcher,
  },
  process.env,
);
