import { runPrepare } from "@payment-links/process";
import { linksApiMigration } from "./service.ts";

await runPrepare("links-api", linksApiMigration, process.env);
