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

/** The query key of the signed-in account. The data is null while no user is signed in. */
export const sessionKey = ["getSession"] as const;

/**
 * Returns whether to retry a query: if no response arrived, the call was rate-limited, or the
 * server failed.
 */
const isRetryable = (error: unknown): boolean =>
  error instanceof ApiError && (error.status === 0 || error.status === 429 || error.status >= 500);

/** The in-memory cache of all data that this tab has fetched. */
export const queryClient = new QueryClient({
  defaultOptions: {
    queries: {
      retry: (count, error) => count < triesMax && isRetryable(error),
      retryDelay: (count, error) =>
        Math.min(waitMsMax, ((error as ApiError).retryAfterSeconds ?? 2 ** count) * 1000),
      refetchOnWindowFocus: "always",
    },
    // A failed change is reported immediately. It is never retried later, because the user would no
    // longer expect it.
    mutations: { retry: false, networkMode: "always", gcTime: 0 },
  },
});

type QueryOptions = { isEnabled?: boolean; refetchIntervalMs?: number };

/** Fetches data with an operation, and refetches it when it may have changed. */
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
    // Shows the previous page of the same list until the next one arrives.
    placeholderData: (previousData, query) =>
      hasSamePath(query?.queryKey[1], input) ? previousData : undefined,
    enabled: isEnabled,
    ...(refetchIntervalMs === undefined ? {} : { refetchInterval: refetchIntervalMs }),
  });

type QueryState = { isPending: boolean; failureCount: number };

/** Returns whether any of these queries waits for its first response. */
export const isFirstLoad = (queries: readonly QueryState[]): boolean =>
  queries.some(({ isPending, failureCount }) => isPending && failureCount === 0);

const hasSamePath = (leftInput: unknown, rightInput: unknown): boolean =>
  JSON.stringify((leftInput as PathInput)?.path) ===
  JSON.stringify((rightInput as PathInput)?.path);

type PathInput = { path?: Readonly<Record<string, string>> } | undefined;

/** Changes data with an operation, then refetches the given operations. */
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

/** Refetches the data of these operations. */
export const invalidateOperations = async (
  client: QueryClient,
  invalidatedIds: readonly OperationId[],
): Promise<void> => {
  await Promise.all(invalidatedIds.map((id) => client.invalidateQueries({ queryKey: [id] })));
};
