import { useSearchParams } from "react-router";
import { Button } from "./button.tsx";
import { texts } from "./texts.ts";
import styles from "./ui.module.css";

/** The offset that the address names. */
export const useOffset = (name = "offset"): number => {
  const [search] = useSearchParams();
  const offset = Number(search.get(name) ?? 0);
  return Number.isSafeInteger(offset) && offset > 0 ? offset : 0;
};

type PageOf = { offset: number; limit: number; nextOffset: number | null };

/** The ways to the pages beside this one. The address names the page, so that Back leads to it. */
export const Pager = ({ page, name = "offset" }: { page: PageOf; name?: string }) => {
  const [search, setSearch] = useSearchParams();
  const goTo = (offset: number): void => {
    const next = new URLSearchParams(search);
    if (offset > 0) next.set(name, String(offset));
    else next.delete(name);
    setSearch(next);
  };
  const { offset, limit, nextOffset } = page;
  if (offset === 0 && nextOffset === null) return null;
  return (
    <nav className={styles["row"]} aria-label={texts.pages}>
      <Button isDisabled={offset === 0} onPress={() => goTo(Math.max(0, offset - limit))}>
        {texts.newer}
      </Button>
      <Button isDisabled={nextOffset === null} onPress={() => goTo(nextOffset ?? 0)}>
        {texts.older}
      </Button>
    </nav>
  );
};
