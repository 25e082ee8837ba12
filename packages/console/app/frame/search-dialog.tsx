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
const SearchDialog = ({ onClose }: { onClose: () => void }) => {
  const dialog = useModal();
  const [text, setText] = useState("");
  const [activeIndex, setActiveIndex] = useState(0);
  const [isEnterPending, setEnterPending] = useState(false);
  const searchText = useDebounced(text.trim(), debounceMs);
  const { results, isPending, error } = useSearchResults(searchText);
  const isOutdated = isPending || searchText !== text.trim();
  const navigate = useNavigate();
  const id = useId();
  const activeResult = results[activeIndex];
  // Enter can be pressed before the results of the last letters have arrived.
  useEffect(() => {
    if (!isEnterPending || isOutdated) return;
    setEnterPending(false);
    if (activeResult === undefined) return;
    onClose();
    void navigate(activeResult.to);
  }, [activeResult, isEnterPending, isOutdated, navigate, onClose]);
  const handleKey = (event: KeyboardEvent): void => {
    const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
    if (step !== undefined && results.length > 0) {
      event.preventDefault();
      setActiveIndex((activeIndex + step + results.length) % results.length);
    }
    // Enter also ends the composition of a character, for example in Japanese.
    if (event.key === "Enter" && !event.nativeEvent.isComposing) setEnterPending(true);
  };
  const changeText = (newText: string): void => {
    setText(newText);
    setActiveIndex(0);
    setEnterPending(false);
  };
  return (
    <dialog
      ref={dialog}
      className={styles["dialog"]}
      aria-label={texts.openSearch}
      onCancel={(event) => {
        event.preventDefault();
        onClose();
      }}
      onClick={(event) => {
        // A click on the backdrop is a click on the dialog itself.
        if (event.target === event.currentTarget) onClose();
      }}
    >
      <div className={styles["field"]}>
        <Icon node={search} />
        <input
          type="text"
          role="combobox"
          aria-label={texts.openSearch}
          aria-expanded={results.length > 0}
          aria-controls={id}
          aria-autocomplete="list"
          {...(activeResult === undefined
            ? {}
            : { "aria-activedescendant": `${id}-${activeIndex}` })}
          placeholder={texts.searchHint}
          autoComplete="off"
          spellCheck="false"
          enterKeyHint="go"
          value={text}
          onChange={(event) => changeText(event.target.value)}
          onKeyDown={handleKey}
        />
        <IconButton icon={x} label={uiTexts.close} onPress={onClose} />
      </div>
      {error !== null && <ErrorNotice error={error} />}
      <div id={id} role="listbox" aria-label={texts.searchResults} className={styles["results"]}>
        {results.map((result, index) => (
          <Result
            key={`${result.kind} ${result.to} ${result.title}`}
            id={`${id}-${index}`}
            result={result}
            isFirstOfKind={result.kind !== results[index - 1]?.kind}
            isActive={index === activeIndex}
            onClose={onClose}
          />
        ))}
      </div>
      <p role="status" className={results.length > 0 ? uiStyles["hidden"] : styles["empty"]}>
        {isPending ? texts.searching : texts.searchResultCount(results.length)}
      </p>
    </dialog>
  );
};
export default SearchDialog;

type ResultProps = {
  id: string;
  result: SearchResult;
  isFirstOfKind: boolean;
  isActive: boolean;
  onClose: () => void;
};

const Result = ({ id, result, isFirstOfKind, isActive, onClose }: ResultProps) => (
  <>
    {isFirstOfKind && (
      <p className={styles["kind"]} aria-hidden="true">
        {texts.searchKinds[result.kind]}
      </p>
    )}
    <Link
      ref={(element) => {
        if (isActive) element?.scrollIntoView({ block: "nearest" });
      }}
      id={id}
      role="option"
      aria-selected={isActive}
      tabIndex={-1}
      className={styles["result"]}
      to={result.to}
      onClick={onClose}
    >
      <Icon node={result.icon} />
      <bdi>{result.title}</bdi>
      <span className={uiStyles["quiet"]}>{result.detail}</span>
    </Link>
  </>
);

/** Returns the value once it has not changed for some time. */
const useDebounced = (value: string, ms: number): string => {
  const [debounced, setDebounced] = useState(value);
  useEffect(() => {
    const timer = setTimeout(() => setDebounced(value), ms);
    return () => clearTimeout(timer);
  }, [value, ms]);
  return debounced;
};
