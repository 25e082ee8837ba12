import { defineConfig } from "oxlint";

// Import rules between modules: `test/imports/import-rules.ts`, enforced by `imports/allowed`. Patterns
// that make a test fail on a busy machine: `test/reliability`, enforced by `reliability/*`.
export default defineConfig({
  plugins: ["typescript", "unicorn", "oxc", "import", "node", "promise", "react", "jsx-a11y"],
  jsPlugins: ["./test/imports/lint-plugin.ts", "./test/reliability/lint-plugin.ts"],
  categories: { correctness: "error", suspicious: "error", perf: "error" },
  options: { typeAware: true },
  ignorePatterns: ["**/dist/**", "helm/**"],
  rules: {
    "imports/allowed": "error",
    "typescript/no-explicit-any": "error",
    "typescript/no-non-null-assertion": "error",
    "typescript/no-floating-promises": "error",
    "typescript/switch-exhaustiveness-check": "error",
    "typescript/consistent-type-imports": "error",
    "typescript/no-misused-promises": "off",
    "typescript/no-misused-spread": "off",
    "node/no-process-env": "error",
    "no-restricted-properties": [
      "error",
      {
        property: "transaction",
        allowObjects: ["data", "delivery", "event", "instructions"],
        message: "Use transact of packages/postgres: here a rejection costs the pool a connection.",
      },
      { object: "res", property: "json", message: "Use sendJson of packages/http." },
    ],
    "import/no-default-export": "error",
    "import/no-cycle": ["error", { ignoreTypes: false }],
    eqeqeq: "error",
    "no-var": "error",
    "prefer-const": "error",
    "no-console": "error",
    "max-lines-per-function": ["error", { max: 70, skipBlankLines: true, skipComments: true }],
    "no-await-in-loop": "off",
    "unicorn/no-array-sort": "off",
    "unicorn/no-array-reverse": "off",
    "unicorn/consistent-function-scoping": "off",
    "import/no-unassigned-import": "off",
    "no-shadow": "off",
    "unicorn/no-array-callback-reference": "off",
    "typescript/no-unsafe-type-assertion": "off",
    "unicorn/require-module-specifiers": "off",
    "oxc/no-async-endpoint-handlers": "off",
    "oxc/no-map-spread": "off",
    "typescript/consistent-return": "off",
    "promise/always-return": "off",
    "import/no-named-as-default-member": "off",
    "react/react-in-jsx-scope": "off",
    // A table's cell is a function of its row that is called, never mounted.
    "react/no-unstable-nested-components": ["error", { allowAsProps: true }],
    // An `output` element is inline and belongs to a form.
    "jsx-a11y/prefer-tag-over-role": "off",
    // The rule ignores text that a component renders; axe checks the rendered pages instead.
    "jsx-a11y/control-has-associated-label": "off",
  },
  overrides: [
    {
      files: [
        "services/*/src/main.ts",
        "services/*/src/prepare.ts",
        "deploy/**",
        "test/**",
        "packages/console/ensure.ts",
        "packages/docs/ensure.ts",
        "packages/docs/receivers/**",
        "packages/console/app/pages/developers/samples/**",
        "packages/postgres/src/testing.ts",
        "packages/sdk/src/command/main.ts",
      ],
      rules: { "node/no-process-env": "off", "no-console": "off" },
    },
    {
      files: [
        "packages/postgres/src/transact.ts",
        "packages/local-chains/**",
        "**/*.test.ts",
        "**/*.contract.ts",
        "test/**",
        "**/testing/**",
      ],
      rules: { "no-restricted-properties": "off" },
    },
    {
      // A lazily loaded view is the default export of its module.
      files: [
        "**/*.config.{js,ts}",
        "packages/console/app/pages/**",
        "test/jest/runner.mjs",
        "test/reliability/lint-plugin.ts",
        "test/imports/lint-plugin.ts",
      ],
      rules: { "import/no-default-export": "off" },
    },
    {
      files: [
        "packages/local-chains/**",
        "**/*.test.ts",
        "**/*.contract.ts",
        "test/**",
        "**/testing/**",
      ],
      rules: { "node/no-process-env": "off", "max-lines-per-function": "off", "no-console": "off" },
    },
    {
      files: [
        "**/*.test.ts",
        "**/*.contract.ts",
        "**/testing/**",
        "packages/local-chains/**",
        "packages/postgres/src/testing.ts",
        "test/**/*.ts",
      ],
      rules: {
        "reliability/no-fixed-wait": "error",
        "reliability/no-shared-resource": "error",
        "reliability/no-short-limit": "error",
        "reliability/no-speed-comparison": "error",
      },
    },
    {
      files: [
        // Not tests: these measure, or run against a cluster or a simulated world.
        "test/{attacks,bench,cluster,profile,screenshots,simulation}/**",
        // The helpers that the rules refer to.
        "packages/runtime/src/testing/{stop-child,inject-delay,shifted-clock,wait-until}.ts",
        "packages/rate-limit/src/testing/claim-redis-database.ts",
        "test/{reliability/**,reliability.test.ts}",
      ],
      rules: {
        "reliability/no-fixed-wait": "off",
        "reliability/no-shared-resource": "off",
        "reliability/no-short-limit": "off",
        "reliability/no-speed-comparison": "off",
      },
    },
  ],
});
