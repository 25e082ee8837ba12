import { QueryClient, useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { ApiError } from "./api-error.ts";
import {
  type OperationResponse,
  type OperationInput,
  type OperationId,
  callOperation,
} from "./call.ts";

const triesMax = 3;
const waitMsMax = 30_000;

/** Where the signed-in account is kept; null where nobody is signed in. */
export const sessionKey = ["getSession"] as const;

/** What the service is busy with, or does not answer, is asked again; what it refuses, is not. */
const isRetryable = (error: unknown): boolean =>
  error instanceof ApiError && (error.status === 0 || error.status === 429 || error.status >= 500);

/** All that this tab knows of the service. Nothing of it is stored. */
export const queryClient = new QueryClient({
  defaultOptions: {
    queries: {
      retry: (count, error) => count < triesMax && isRetryable(error),
      retryDelay: (count, error) =>
        Math.min(waitMsMax, ((error as ApiError).retryAfterSeconds ?? 2 ** count) * 1000),
      refetchOnWindowFocus: "always",
    },
    // A click that failed is told of at once: nothing is done later that nobody expects any more.
    mutations: { retry: false, networkMode: "always", gcTime: 0 },
  },
});

type QueryOptions = { isEnabled?: boolean; refetchIntervalMs?: number };

/** Reads by an operation, and again whenever that may have changed. */
export const useOperationQuery = <Id extends OperationId>(
  id: Id,
  input: OperationInput<Id>,
  { isEnabled = true, refetchIntervalMs }: QueryOptions = {},
) =>
  useQuery<OperationResponse<Id>>({
    queryKey: [id, input],
    queryFn: () =>
      (callOperation as (id: Id, input: OperationInput<Id>) => Promise<OperationResponse<Id>>)(
        id,
        input,
      ),
    // Another page of the same thing: until it is there, the one before stands.
    placeholderData: (previousData, query) =>
      hasSamePath(query?.queryKey[1], input) ? previousData : undefined,
    enabled: isEnabled,
    ...(refetchIntervalMs === undefined ? {} : { refetchInterval: refetchIntervalMs }),
  });

const hasSamePath = (leftInput: unknown, rightInput: unknown): boolean =>
  JSON.stringify((leftInput as PathInput)?.path) ===
  JSON.stringify((rightInput as PathInput)?.path);

type PathInput = { path?: Readonly<Record<string, string>> } | undefined;

/** Changes by an operation; then what is named is read again. */
export const useOperationMutation = <Id extends OperationId>(
  id: Id,
  ...invalidatedIds: readonly OperationId[]
) => {
  const client = useQueryClient();
  return useMutation<OperationResponse<Id>, Error, OperationInput<Id>>({
    mutationFn: (input) =>
      (callOperation as (id: Id, input: OperationInput<Id>) => Promise<OperationResponse<Id>>)(
        id,
        input,
      ),
    onSuccess: () => invalidateOperations(client, invalidatedIds),
  });
};

/** Reads again what these operations have read. */
export const invalidateOperations = async (
  client: QueryClient,
  invalidatedIds: readonly OperationId[],
): Promise<void> => {
  await Promise.all(invalidatedIds.map((id) => client.invalidateQueries({ queryKey: [id] })));
};
