/**
 * Returns the path of the list that a view's item belongs to, or the path itself if the view shows
 * no single item.
 */
export const getListPath = (path: string): string =>
  /^\/(?:links|webhooks)(?=\/)(?!\/new$)/.exec(path)?.[0] ?? path;
