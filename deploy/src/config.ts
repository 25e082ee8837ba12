import * as z from "zod";
import { serveConfig } from "@payment-links/http";
import { commonConfig } from "@payment-links/process";
import { Port } from "@payment-links/runtime";

/** The all-in-one's own variables, beside those that every process has (rule OPS-3). */
export const allInOneConfig = z
  .object({ DATA_DIR: z.string().default(".data"), DEVNET_PORT: Port.default(8545) })
  .and(commonConfig)
  .and(serveConfig);
export type AllInOneConfig = z.output<typeof allInOneConfig>;
