import { runProcess } from "@payment-links/process";
import { createSettlementListener, settlementListenerConfig } from "./service.ts";

await runProcess(
  {
    name: "settlement-listener",
    config: settlementListenerConfig,
    create: createSettlementListener,
  },
  process.env,
);
