import { useQueryClient } from "@tanstack/react-query";
import { callOperation } from "./call.ts";
import type { createDuplicateGuard } from "./duplicate-guard.ts";
import { invalidateOperations } from "./query.ts";

/**
 * Returns a function that creates an item whose secret is shown only once, and refetches the list
 * of these items.
 */
export const useGuardedCreate = (
  duplicateGuard: ReturnType<typeof createDuplicateGuard>,
  listOperation: "listApiKeys" | "listWebhookEndpoints",
) => {
  const client = useQueryClient();
  return async <Created>(name: string, create: () => Promise<Created>): Promise<Created> => {
    try {
      const list = async () => (await callOperation(listOperation)).data;
      return await duplicateGuard({ name, list, create });
    } finally {
      // Not awaited, because an offline browser delays the refetch until it is online again.
      void invalidateOperations(client, [listOperation]);
    }
  };
};
