import { globSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "@jest/globals";
import { projectRoot } from "./rig/child.ts";

/**
 * The files outside of `packages/chains` and `packages/local-chains` that name a chain family in
 * their code. A new file should ask `getFamily` for a property instead. Remove a file from this list
 * when it no longer names a family.
 */
const namingFiles = [
  // The local chains, and the values of the chart.
  "deploy/chart/values-schema.ts",
  "deploy/src/all-in-one.ts",
  "deploy/src/devnet/create-call-payer.ts",
  "deploy/src/devnet/known-local-chains.ts",
  "deploy/src/devnet/local-seeds.ts",
  "deploy/src/devnet/start-local-bitcoin.ts",
  "deploy/src/devnet/start-local-chains.ts",
  "deploy/src/devnet/start-local-evm.ts",
  "deploy/src/devnet/start-local-solana.ts",
  "deploy/src/devnet/start-devnet.ts",
  "deploy/src/devnet/start-local-tron.ts",
  // The catalogue.
  "packages/contracts/src/catalogue-seed.ts",
  "packages/contracts/src/catalogue.ts",
  // Public names: fields of the API, error codes, events, settings, routes.
  "packages/contracts/src/api-error.ts",
  "packages/contracts/src/api/payment-links.ts",
  "packages/contracts/src/api/refunds.ts",
  "packages/contracts/src/api/wallets.ts",
  "packages/contracts/src/events.ts",
  "packages/contracts/src/index.ts",
  "packages/contracts/src/payment-link.ts",
  "packages/sdk/src/shapes.ts",
  "services/auth-keys/src/domain/wallet-address.ts",
  "services/links-api/src/config.ts",
  "services/links-api/src/domain/refund-instructions.ts",
  "services/links-api/src/domain/solana-request.ts",
  "services/links-api/src/http/prepare-refund.ts",
  "services/links-api/src/http/serialize-checkout-link.ts",
  "services/links-api/src/routes.ts",
  "services/settlement-listener/src/chains/reject-unused-settings.ts",
  "services/settlement-listener/src/config.ts",
  "services/settlement-listener/src/events/event-handlers.ts",
  // Tables of links-api.
  "services/links-api/src/store/deposits.ts",
  "services/links-api/src/store/link-addresses.ts",
  "services/links-api/src/store/reserve-addresses.ts",
  // The query of settlement-listener for accounts on Solana.
  "packages/contracts/src/solana-account-state.ts",
  "packages/process/src/run-process.ts",
  "packages/process/src/service-context.ts",
  "packages/process/src/settlement-client.ts",
  "services/auth-keys/src/dependencies.ts",
  "services/auth-keys/src/http/require-wallet-address.ts",
  "services/auth-keys/src/jobs/apply-due-defaults.ts",
  "services/links-api/src/dependencies.ts",
  "services/links-api/src/store/destination-check.ts",
  "services/settlement-listener/src/chains/create-chains.ts",
  "services/settlement-listener/src/http/get-solana-account-state.ts",
  "services/settlement-listener/src/routes.ts",
  "services/settlement-listener/src/service.ts",
  // Pages and their texts.
  "packages/console/app/api/operations.ts",
  "packages/console/app/pages/links/new-link.tsx",
  "packages/console/app/pages/links/parse-new-link.ts",
  "packages/console/app/pages/links/refund/evm-wallets.ts",
  "packages/console/app/pages/links/refund/solana-wallets.ts",
  "packages/console/app/pages/links/refund/tron-wallets.ts",
  "packages/console/app/pages/links/refund/wallet-source.ts",
  "packages/console/app/pages/links/texts.ts",
  "packages/console/app/ui/api-error-messages.ts",
  "packages/console/app/ui/field-errors.ts",
  "packages/docs/src/site/error-advice.ts",
  "services/links-api/src/pages/assets.ts",
  "services/links-api/src/pages/create-solana-transaction.ts",
  "services/links-api/src/pages/get-checkout-page.ts",
  "services/links-api/src/pages/get-request-qr.ts",
  "services/links-api/src/pages/get-solana-request.ts",
  "services/links-api/src/pages/languages/de.ts",
  "services/links-api/src/pages/languages/en.ts",
  "services/links-api/src/pages/languages/es.ts",
  "services/links-api/src/pages/languages/fr.ts",
  "services/links-api/src/pages/languages/it.ts",
  "services/links-api/src/pages/languages/ja.ts",
  "services/links-api/src/pages/languages/pt-br.ts",
  "services/links-api/src/pages/languages/zh-hans.ts",
  "services/links-api/src/pages/localization.ts",
  "services/links-api/src/pages/logos.ts",
  "services/links-api/src/pages/render-payment-section.ts",
  "services/links-api/src/pages/render-request-options.ts",
  // Addresses that are recognized by their form, without their chain.
  "services/auth-keys/src/http/get-nonce.ts",
  "services/settlement-listener/src/domain/notice.ts",
  "services/settlement-listener/src/payment-reports/record-transfers.ts",
  // The family of a chain that is not in the catalogue.
  "services/settlement-listener/src/events/receive-links.ts",
];

/** The files of {@link namingFiles} that contain the `chainType` of a family. */
const chainTypeFiles = [
  "deploy/src/devnet/local-seeds.ts",
  "packages/console/app/api/operations.ts",
  "packages/contracts/src/catalogue-seed.ts",
  "packages/sdk/src/shapes.ts",
  "services/settlement-listener/src/events/receive-links.ts",
];

const sourceGlob = "{services,packages,deploy}/**/*.{ts,tsx}";
const skippedGlobs = ["**/node_modules", "**/dist"];
/** Other tests plant files in the source folders while this one runs. */
const plantedPattern = /\/planted-/;
const exemptPattern = /\.test\.ts$|\/testing(?:\/|\.ts$)|^packages\/(?:local-)?chains\//;
const commentPattern = /^\s*(?:\/\*|\*|\/\/).*$/gm;

const findFiles = (pattern: RegExp): string[] =>
  globSync(sourceGlob, { cwd: projectRoot, exclude: skippedGlobs }).filter((file) => {
    if (exemptPattern.test(file) || plantedPattern.test(file)) return false;
    const text = readFileSync(join(projectRoot, file), "utf8");
    return pattern.test(text.replaceAll(commentPattern, ""));
  });

test.each([
  ["name a chain family", /bitcoin|solana|tron\b|evm|bvm|svm|tvm/i, namingFiles],
  ["contain the chain type of a family", /["'](?:EVM|SVM|TVM|BVM)["']/, chainTypeFiles],
])("only the listed files %s", (_, pattern, listedFiles) => {
  const files = findFiles(pattern);
  expect({
    unlisted: files.filter((file) => !listedFiles.includes(file)),
    noLonger: listedFiles.filter((file) => !files.includes(file)),
  }).toEqual({ unlisted: [], noLonger: [] });
});
