export { type CommonConfig, commonConfig } from "./config.ts";
export { deadLetterRoutes } from "./dead-letter-routes.ts";
export type { Ground } from "./ground.ts";
export { runPrepare } from "./prepare.ts";
export { runProcess } from "./run-process.ts";
