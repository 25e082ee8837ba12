import type { Catalogue } from "../catalogue.ts";
import { createLinkBody } from "../payment-link.ts";
import { accountOperations } from "./accounts.ts";
import { apiKeyOperations } from "./api-keys.ts";
import { auditLogOperations } from "./audit-log.ts";
import { commandSignInOperations } from "./command-sign-ins.ts";
import { depositOperations } from "./deposits.ts";
import { exportOperations } from "./exports.ts";
import { notificationOperations } from "./notifications.ts";
import type { Operation } from "./operation.ts";
import { overviewOperations } from "./overview.ts";
import { passkeyOperations } from "./passkeys.ts";
import { checkoutOperations, consoleLinkOperations } from "./payment-links.ts";
import { refundOperations } from "./refunds.ts";
import { identityOperations, sessionOperations, signInOperations } from "./sessions.ts";
import { walletOperations } from "./wallets.ts";
import { webhookEndpointOperations } from "./webhook-endpoints.ts";
import { webhookListenerOperations } from "./webhook-listeners.ts";

type OperationDependencies = { catalogue: Catalogue; now: () => Date };

/**
 * Every operation of the console, the checkout and the command line, regardless of the service that
 * implements it.
 */
export const consoleOperations = ({
  catalogue,
  now,
}: OperationDependencies): readonly Operation[] =>
  [
    signInOperations,
    sessionOperations,
    identityOperations,
    passkeyOperations,
    accountOperations,
    notificationOperations,
    auditLogOperations,
    walletOperations(catalogue),
    apiKeyOperations(now),
    commandSignInOperations,
    overviewOperations,
    consoleLinkOperations(createLinkBody(now)),
    refundOperations,
    exportOperations,
    depositOperations,
    webhookEndpointOperations,
    webhookListenerOperations,
    checkoutOperations,
  ].flatMap((operations): Operation[] => Object.values(operations));
