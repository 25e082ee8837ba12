export { type CommonConfig, publicConfig, warnAboutInsecureCookie } from "./config.ts";
export { createServiceExports } from "./create-service-exports.ts";
export { type BackgroundJob, type ServiceParts, createService } from "./create-service.ts";
export type { ServiceContext } from "./service-context.ts";
export { runPrepare } from "./prepare.ts";
export { runProcess } from "./run-process.ts";
