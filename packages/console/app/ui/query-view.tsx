import type { UseQueryResult } from "@tanstack/react-query";
import type { ReactNode } from "react";
import { ErrorNotice } from "./notice.tsx";
import { texts } from "./texts.ts";
import styles from "./ui.module.css";

/** Shows the result of a query, a loading message, or the error with a retry button. */
export const QueryView = <Data,>({
  query,
  children,
}: {
  query: UseQueryResult<Data>;
  children: (data: Data) => ReactNode;
}) => (
  <>
    {query.isError && <ErrorNotice error={query.error} onRetry={() => void query.refetch()} />}
    {query.data !== undefined && children(query.data)}
    {query.isPending && (
      <p role="status" className={styles["quiet"]}>
        {texts.loading}
      </p>
    )}
  </>
);
