import type { UseQueryResult } from "@tanstack/react-query";
import type { ReactNode } from "react";
import { ErrorNotice } from "./notice.tsx";
import { Page } from "./page.tsx";
import { Skeleton } from "./skeleton.tsx";

const defaultPlaceholder = <Skeleton />;

/**
 * Shows the result of a query, a placeholder while it loads, or the error with a retry button. A
 * placeholder as high as the result keeps the elements below it in place. `pageTitle` is the
 * heading of the page until there is data, for results that are a page of their own.
 */
export const QueryView = <Data,>({
  query,
  pageTitle,
  placeholder = defaultPlaceholder,
  children,
}: {
  query: UseQueryResult<Data>;
  pageTitle?: string;
  placeholder?: ReactNode;
  children: (data: Data) => ReactNode;
}) => {
  const view = (
    <>
      {query.isError && <ErrorNotice error={query.error} onRetry={() => void query.refetch()} />}
      {query.data !== undefined && children(query.data)}
      {query.isPending && placeholder}
    </>
  );
  return pageTitle === undefined || query.data !== undefined ? (
    view
  ) : (
    <Page title={pageTitle}>{view}</Page>
  );
};
