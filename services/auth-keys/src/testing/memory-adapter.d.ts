// What the provider keeps in memory by default, asked for by name so that it does not warn of it.
declare module "oidc-provider/lib/adapters/memory_adapter.js" {
  import type { AdapterFactory } from "oidc-provider";
  export const createMemoryAdapter: (clockToleranceSeconds: number) => AdapterFactory;
}
