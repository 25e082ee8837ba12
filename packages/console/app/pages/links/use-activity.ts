import { useInfiniteQuery } from "@tanstack/react-query";
import { callOperation } from "../../api/call.ts";
import type { OwnPaymentLink } from "../../api/operations.ts";
import { mergeActivity } from "./merge-activity.ts";

const refetchIntervalMs = 5_000;

/**
 * Returns a link's timeline merged with its webhook deliveries, newest first. `loadMore` loads the
 * next page of the source that has the next entry.
 */
export const useActivity = ({ id: linkId, mode }: Pick<OwnPaymentLink, "id" | "mode">) => {
  const timeline = useInfiniteQuery({
    queryKey: ["getPaymentLinkStory", linkId],
    queryFn: ({ pageParam }) =>
      callOperation("getPaymentLinkStory", {
        path: { id: linkId },
        query: { order: "desc", after: pageParam },
      }),
    initialPageParam: undefined as string | undefined,
    getNextPageParam: ({ nextAfter }) => nextAfter ?? undefined,
    refetchInterval: refetchIntervalMs,
  });
  const deliveries = useInfiniteQuery({
    queryKey: ["listLinkDeliveries", linkId],
    queryFn: ({ pageParam }) =>
      callOperation("listLinkDeliveries", { query: { linkId, mode, offset: pageParam } }),
    initialPageParam: 0,
    getNextPageParam: ({ nextOffset }) => nextOffset ?? undefined,
    refetchInterval: refetchIntervalMs,
  });
  const sources = { timeline, deliveries };
  const { items, nextSource } = mergeActivity(
    {
      entries: timeline.data?.pages.flatMap(({ data }) => data) ?? [],
      isComplete: timeline.isSuccess && !timeline.hasNextPage,
    },
    {
      entries: removeRepeated(deliveries.data?.pages.flatMap(({ data }) => data) ?? []),
      // The timeline is shown without the deliveries if they cannot be loaded.
      isComplete: deliveries.isError || (deliveries.isSuccess && !deliveries.hasNextPage),
    },
  );
  return {
    items,
    timeline,
    deliveries,
    hasMore: nextSource !== undefined,
    loadMore: () => nextSource && sources[nextSource].fetchNextPage(),
  };
};

/** A new delivery moves the others to the next page, so that one can be on two pages. */
const removeRepeated = <Entry extends { id: string }>(entries: readonly Entry[]): Entry[] => [
  ...new Map(entries.map((entry) => [entry.id, entry])).values(),
];
