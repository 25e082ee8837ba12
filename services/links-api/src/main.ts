import { runProcess } from "@payment-links/process";
import { createLinksApi, linksApiConfig } from "./service.ts";

await runProcess(
  { name: "links-api", config: linksApiConfig, create: createLinksApi },
  process.env,
);
