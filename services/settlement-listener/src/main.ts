import { runProcess } from "@payment-links/process";
import {
  createSettlementListener,
  settlementListenerConfig,
  settlementListenerMigration,
} from "./service.ts";

await runProcess(
  {
    name: "settlement-listener",
    config: settlementListenerConfig,
    migration: settlementListenerMigration,
    create: createSettlementListener,
  },
  process.env,
);
