import { search, x } from "@payment-links/design/icons";
import { type KeyboardEvent, useEffect, useId, useState } from "react";
import { Link, useNavigate } from "react-router";
import { IconButton } from "../ui/button.tsx";
import { useModal } from "../ui/dialog.tsx";
import { Icon } from "../ui/icon.tsx";
import { ErrorNotice } from "../ui/notice.tsx";
import { texts as uiTexts } from "../ui/texts.ts";
import uiStyles from "../ui/ui.module.css";
import styles from "./search.module.css";
import { texts } from "./texts.ts";
import { type SearchResult, useSearchResults } from "./use-search-results.ts";

/** How long to wait for more letters before a request is sent. */
const debounceMs = 150;

/**
 * Searches links, API keys, webhook endpoints and views while the user types. The focus stays in
 * the field. The arrow keys move through the results, and Enter opens the active one.
 */
export const SearchDialog = ({ onClose }: { onClose: () => void }) => {
  const dialog = useModal();
  const [text, setText] = useState("");
  const searchText = useDebounced(text.trim(), debounceMs);
  const { results, isPending, error } = useSearchResults(searchText);
  const isOutdated = isPending || searchText !== text.trim();
  const { activeIndex, handleKey, reset } = useResultKeys({ results, isOutdated, onClose });
  const listId = useId();
  return (
    <dialog
      ref={dialog}
      className={styles["dialog"]}
      aria-label={texts.openSearch}
      onCancel={(event) => {
        event.preventDefault();
        onClose();
      }}
    >
      <div className={styles["field"]}>
        <Icon node={search} />
        <input
          type="text"
          role="combobox"
          aria-label={texts.openSearch}
          aria-expanded={results.length > 0}
          aria-controls={listId}
          aria-autocomplete="list"
          aria-activedescendant={
            results.length > 0 ? buildOptionId(listId, activeIndex) : undefined
          }
          placeholder={texts.searchHint}
          autoComplete="off"
          spellCheck="false"
          enterKeyHint="go"
          value={text}
          onChange={(event) => {
            setText(event.target.value);
            reset();
          }}
          onKeyDown={handleKey}
        />
        <IconButton icon={x} label={uiTexts.close} onPress={onClose} />
      </div>
      {error !== null && <ErrorNotice error={error} />}
      <Results id={listId} results={results} activeIndex={activeIndex} onClose={onClose} />
      <p role="status" className={results.length > 0 ? uiStyles["hidden"] : styles["empty"]}>
        {isPending ? texts.searching : texts.searchResultCount(results.length)}
      </p>
    </dialog>
  );
};

/** Returns the value once it has not changed for some time. */
const useDebounced = (value: string, ms: number): string => {
  const [debouncedValue, setDebouncedValue] = useState(value);
  useEffect(() => {
    const timer = setTimeout(() => setDebouncedValue(value), ms);
    return () => clearTimeout(timer);
  }, [value, ms]);
  return debouncedValue;
};

type ResultKeysOptions = {
  results: readonly SearchResult[];
  /** Whether the results do not match the text yet. */
  isOutdated: boolean;
  onClose: () => void;
};

/** The active result, which the arrow keys change and Enter opens. */
const useResultKeys = ({ results, isOutdated, onClose }: ResultKeysOptions) => {
  const navigate = useNavigate();
  const [activeIndex, setActiveIndex] = useState(0);
  const [isEnterPending, setEnterPending] = useState(false);
  const activePath = results[activeIndex]?.to;
  const isOpening = isEnterPending && !isOutdated && activePath !== undefined;
  // Enter can be pressed before the results of the last letters have arrived.
  useEffect(() => {
    if (!isOpening) return;
    onClose();
    void navigate(activePath);
  }, [activePath, isOpening, navigate, onClose]);
  const handleKey = (event: KeyboardEvent): void => {
    const step = new Map([
      ["ArrowDown", 1],
      ["ArrowUp", -1],
    ]).get(event.key);
    if (step !== undefined && results.length > 0) {
      event.preventDefault();
      setActiveIndex((activeIndex + step + results.length) % results.length);
    }
    // Enter also ends the composition of a character, for example in Japanese.
    if (event.key === "Enter" && !event.nativeEvent.isComposing) setEnterPending(true);
  };
  const reset = (): void => {
    setActiveIndex(0);
    setEnterPending(false);
  };
  return { activeIndex, handleKey, reset };
};

const buildOptionId = (listId: string, index: number): string => `${listId}-${index}`;

type ResultsProps = {
  id: string;
  results: readonly SearchResult[];
  activeIndex: number;
  onClose: () => void;
};

/** The results, with a title above the first one of each kind. */
const Results = ({ id, results, activeIndex, onClose }: ResultsProps) => (
  <div id={id} role="listbox" aria-label={texts.searchResults} className={styles["results"]}>
    {results.map(({ kind, key, to, title, detail, icon }, index) => [
      kind !== results[index - 1]?.kind && (
        <p key={kind} className={styles["kind"]} aria-hidden="true">
          {texts.searchKinds[kind]}
        </p>
      ),
      <Link
        key={key}
        ref={(element) => {
          if (index === activeIndex) element?.scrollIntoView({ block: "nearest" });
        }}
        id={buildOptionId(id, index)}
        role="option"
        aria-selected={index === activeIndex}
        tabIndex={-1}
        className={styles["result"]}
        to={to}
        onClick={onClose}
      >
        <Icon node={icon} />
        <bdi>{title}</bdi>
        <span className={uiStyles["quiet"]}>{detail}</span>
      </Link>,
    ])}
  </div>
);
