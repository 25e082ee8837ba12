export { type CommonConfig, commonConfig } from "./config.ts";
export type { Ground } from "./ground.ts";
export { runProcess } from "./run-process.ts";
