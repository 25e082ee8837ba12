import { runProcess } from "@payment-links/process";
import { createWebhookDispatcher, webhookDispatcherConfig } from "./service.ts";

await runProcess(
  {
    name: "webhook-dispatcher",
    config: webhookDispatcherConfig,
    create: (ground, config) => createWebhookDispatcher(ground, config),
  },
  process.env,
);
