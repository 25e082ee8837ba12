import { useEffect } from "react";
import { useLocation } from "react-router";
import { type Mode, buildModeUrl, getModeOf, mode } from "../mode.ts";

/**
 * Opens the view in the mode of the item that it shows, for example after a link from the other
 * mode. Returns whether this page already has that mode.
 */
export const useModeOf = (item: { mode: Mode }): boolean => {
  const { pathname, search } = useLocation();
  const itemMode = getModeOf(item);
  useEffect(() => {
    if (itemMode !== mode) location.replace(buildModeUrl(itemMode, `${pathname}${search}`));
  }, [itemMode, pathname, search]);
  return itemMode === mode;
};
