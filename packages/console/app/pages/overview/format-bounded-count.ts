import type { Overview } from "../../api/operations.ts";
import { formatCount } from "../../ui/format.ts";
import { texts } from "./texts.ts";

/** Formats a count that the service stops at a maximum. */
export const formatBoundedCount = ({ count, hasMore }: Overview["links"]["active"]): string =>
  hasMore ? texts.moreThan(count) : formatCount(count);
