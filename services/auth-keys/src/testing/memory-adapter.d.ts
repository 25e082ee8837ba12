// The provider's default in-memory storage. Configuring it explicitly avoids a warning.
declare module "oidc-provider/lib/adapters/memory_adapter.js" {
  import type { AdapterFactory } from "oidc-provider";
  export const createMemoryAdapter: (clockToleranceSeconds: number) => AdapterFactory;
}
