import { busMigrations } from "@payment-links/bus";
import type { SendReceipt } from "@payment-links/contracts";
import type { Service } from "@payment-links/http";
import type { RequestIntrospection } from "@payment-links/identity";
import { type ServiceContext, createService } from "@payment-links/process";
import type { AuthKeysConfig } from "./config.ts";
import { createDependencies } from "./dependencies.ts";
import { createEventHandlers } from "./events/event-handlers.ts";
import { applyDueDefaults } from "./jobs/apply-due-defaults.ts";
import { deleteExpiredRows } from "./jobs/delete-expired-rows.ts";
import { deleteOldAuditEntries } from "./jobs/delete-old-audit-entries.ts";
import { flushLastUses } from "./jobs/flush-last-uses.ts";
import { flushRejectedSignIns } from "./jobs/flush-rejected-sign-ins.ts";
import { sendEmails } from "./jobs/send-emails.ts";
import { createInternalRoutes, createPublicRoutes } from "./routes.ts";
import { republishAccounts } from "./store/accounts.ts";

export { authKeysConfig } from "./config.ts";

/** The service's schema and its migration folders. */
export const authKeysMigration = {
  schema: "auth_keys",
  folders: [busMigrations, new URL("../migrations/", import.meta.url)],
};

/**
 * Creates auth-keys. It stores accounts with their handles and wallets, and the credentials that
 * authenticate callers. The returned `requestIntrospection` and `sendReceipt` work in-process, for
 * services in the same process. This service does not use those of `context`. Nothing runs before
 * `start`.
 */
export const createAuthKeys = (
  context: ServiceContext,
  config: AuthKeysConfig,
): Service & { requestIntrospection: RequestIntrospection; sendReceipt: SendReceipt } =>
  createService(context, "auth-keys", (wakeRelay) => {
    const dependencies = createDependencies(context, config, wakeRelay);
    const { introspect, sendEmail, sendReceipt } = dependencies;
    const flushJobs = [flushLastUses(dependencies), flushRejectedSignIns(dependencies)];
    return {
      publicRoutes: createPublicRoutes(dependencies),
      internalRoutes: createInternalRoutes(dependencies),
      identity: dependencies.identity,
      republishSource: republishAccounts,
      consumerOptions: { handlers: createEventHandlers(dependencies) },
      backgroundJobs: [
        ...flushJobs,
        applyDueDefaults(dependencies),
        deleteExpiredRows(dependencies),
        deleteOldAuditEntries(dependencies),
        ...(sendEmail === undefined ? [] : [sendEmails({ ...dependencies, sendEmail })]),
      ],
      stop: () => dependencies.exports.close(),
      afterStop: () =>
        Promise.all(flushJobs.map((job) => job.run())).then(
          () => {},
          (error: unknown) => {
            context.log.warn({ err: error }, "could not write last uses and rejected sign-ins");
          },
        ),
      directCalls: { requestIntrospection: introspect, sendReceipt },
    };
  });
