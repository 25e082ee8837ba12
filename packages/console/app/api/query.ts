import { QueryClient, useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { ApiError } from "./api-error.ts";
import { type AnswerOf, type InputOf, type OperationId, call } from "./call.ts";

const triesMax = 3;
const waitMsMax = 30_000;

/** Where the signed-in account is kept; null where nobody is signed in. */
export const sessionKey = ["getSession"] as const;

/** What the service is busy with, or does not answer, is asked again; what it refuses, is not. */
const isWorthAnother = (error: unknown): boolean =>
  error instanceof ApiError && (error.status === 0 || error.status === 429 || error.status >= 500);

/** All that this tab knows of the service. Nothing of it is stored. */
export const queryClient = new QueryClient({
  defaultOptions: {
    queries: {
      retry: (count, error) => count < triesMax && isWorthAnother(error),
      retryDelay: (count, error) =>
        Math.min(waitMsMax, ((error as ApiError).waitSeconds ?? 2 ** count) * 1000),
      refetchOnWindowFocus: "always",
    },
    // A click that failed is told of at once: nothing is done later that nobody expects any more.
    mutations: { retry: false, networkMode: "always", gcTime: 0 },
  },
});

type QueryOptions = { isWanted?: boolean; everyMs?: number };

/** Reads by an operation, and again whenever that may have changed. */
export const useCall = <Id extends OperationId>(
  id: Id,
  input: InputOf<Id>,
  { isWanted = true, everyMs }: QueryOptions = {},
) =>
  useQuery<AnswerOf<Id>>({
    queryKey: [id, input],
    queryFn: () => (call as (id: Id, input: InputOf<Id>) => Promise<AnswerOf<Id>>)(id, input),
    // Another page of the same thing: until it is there, the one before stands.
    placeholderData: (before, query) =>
      isSameThing(query?.queryKey[1], input) ? before : undefined,
    enabled: isWanted,
    ...(everyMs === undefined ? {} : { refetchInterval: everyMs }),
  });

const isSameThing = (one: unknown, other: unknown): boolean =>
  JSON.stringify((one as Input)?.path) === JSON.stringify((other as Input)?.path);

type Input = { path?: Readonly<Record<string, string>> } | undefined;

/** Changes by an operation; then what is named is read again. */
export const useChange = <Id extends OperationId>(id: Id, ...changed: readonly OperationId[]) => {
  const client = useQueryClient();
  return useMutation<AnswerOf<Id>, Error, InputOf<Id>>({
    mutationFn: (input) =>
      (call as (id: Id, input: InputOf<Id>) => Promise<AnswerOf<Id>>)(id, input),
    onSuccess: () => refresh(client, changed),
  });
};

/** Reads again what these operations have read. */
export const refresh = async (
  client: QueryClient,
  changed: readonly OperationId[],
): Promise<void> => {
  await Promise.all(changed.map((id) => client.invalidateQueries({ queryKey: [id] })));
};
