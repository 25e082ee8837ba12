export { type CommonConfig, publicConfig, warnOfInsecureCookie } from "./config.ts";
export { createServiceExports } from "./create-service-exports.ts";
export { type Job, type ServiceParts, createService } from "./create-service.ts";
export type { Ground } from "./ground.ts";
export { runPrepare } from "./prepare.ts";
export { runProcess } from "./run-process.ts";
