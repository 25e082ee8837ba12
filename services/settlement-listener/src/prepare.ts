import { runPrepare } from "@payment-links/process";
import { settlementListenerMigration } from "./service.ts";

await runPrepare("settlement-listener", settlementListenerMigration, process.env);
