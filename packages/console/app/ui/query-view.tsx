import type { UseQueryResult } from "@tanstack/react-query";
import type { ReactNode } from "react";
import { ErrorNotice } from "./notice.tsx";
import { Page } from "./page.tsx";
import { texts } from "./texts.ts";
import styles from "./ui.module.css";

/**
 * Shows the result of a query, a loading message, or the error with a retry button. `pageTitle` is
 * the heading of the page until there is data, for results that are a page of their own.
 */
export const QueryView = <Data,>({
  query,
  pageTitle,
  children,
}: {
  query: UseQueryResult<Data>;
  pageTitle?: string;
  children: (data: Data) => ReactNode;
}) => {
  const view = (
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
  return pageTitle === undefined || query.data !== undefined ? (
    view
  ) : (
    <Page title={pageTitle}>{view}</Page>
  );
};
