import { useEffect } from "react";
import { useLocation } from "react-router";
import { type Mode, buildModeUrl, mode } from "../mode.ts";

/**
 * Opens the view in the mode of the item that it shows, for example after a link from the other
 * mode. Returns whether this page already has that mode.
 */
export const useModeOf = (item: { mode: Mode }): boolean => {
  const { pathname, search } = useLocation();
  const isCurrent = item.mode === mode;
  useEffect(() => {
    if (!isCurrent) location.replace(buildModeUrl(item.mode, `${pathname}${search}`));
  }, [isCurrent, item.mode, pathname, search]);
  return isCurrent;
};
