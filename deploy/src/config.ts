import * as z from "zod";
import { publicConfig } from "@payment-links/process";
import { CommaList, Port } from "@payment-links/runtime";
import { type LocalChainName, localChainNames } from "./devnet/known-local-chains.ts";

const isLocalChainName = (name: string): name is LocalChainName =>
  localChainNames.some((localChainName) => localChainName === name);

const LocalChainNames = CommaList.refine((names) => names.every(isLocalChainName), {
  error: `must be a comma-separated list of ${localChainNames.join(", ")}`,
}).transform((names) => localChainNames.filter((name) => names.includes(name)));

/** The variables that only the all-in-one process has (rule OPS-3). */
export const allInOneConfig = z
  .object({
    DATA_DIR: z.string().default(".data"),
    DEVNET_CHAINS: LocalChainNames.default([...localChainNames]),
    DEVNET_PORT: Port.default(8545),
  })
  .and(publicConfig);
export type AllInOneConfig = z.output<typeof allInOneConfig>;
