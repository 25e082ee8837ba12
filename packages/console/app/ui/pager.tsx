import { chevronLeft, chevronRight } from "@payment-links/design/icons";
import { useSearchParams } from "react-router";
import { Button } from "./button.tsx";
import { changeParams } from "./change-params.ts";
import { Icon } from "./icon.tsx";
import { texts } from "./texts.ts";
import styles from "./ui.module.css";

/** Returns the offset in the URL. */
export const useOffset = (): number => {
  const [searchParams] = useSearchParams();
  const offset = Number(searchParams.get("offset") ?? 0);
  return Number.isSafeInteger(offset) && offset > 0 ? offset : 0;
};

type PageInfo = { offset: number; limit: number; nextOffset: number | null };

/** Links to the previous and next page. The offset is in the URL, so that Back works. */
export const Pager = ({ page }: { page: PageInfo }) => {
  const [searchParams, setSearchParams] = useSearchParams();
  const goTo = (offset: number): void =>
    setSearchParams(changeParams(searchParams, { offset: offset > 0 ? String(offset) : "" }));
  const { offset, limit, nextOffset } = page;
  if (offset === 0 && nextOffset === null) return null;
  return (
    <nav className={styles["pager"]} aria-label={texts.pagination}>
      <Button isDisabled={offset === 0} onPress={() => goTo(Math.max(0, offset - limit))}>
        <Icon node={chevronLeft} />
        {texts.newer}
      </Button>
      <Button isDisabled={nextOffset === null} onPress={() => goTo(nextOffset ?? 0)}>
        {texts.older}
        <Icon node={chevronRight} />
      </Button>
    </nav>
  );
};
