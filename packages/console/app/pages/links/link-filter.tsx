import { search } from "@payment-links/design/icons";
import { useEffect, useRef, useState } from "react";
import { useNavigate, useSearchParams } from "react-router";
import { useOperationQuery } from "../../api/query.ts";
import { isOfMode, mode } from "../../mode.ts";
import { ButtonLink } from "../../ui/button.tsx";
import { Icon } from "../../ui/icon.tsx";
import { Tabs } from "../../ui/tabs.tsx";
import uiStyles from "../../ui/ui.module.css";
import {
  type LinkFilterParameter,
  buildListUrl,
  isFiltered,
  parseLinkFilter,
  parseLinkState,
} from "./filter.ts";
import { linkStates } from "./link-state.ts";
import styles from "./links.module.css";
import { texts } from "./texts.ts";

/** A search is sent after the user has stopped typing for this time. */
const typingPauseMs = 300;

/** The filters of the links list. The URL holds them, and every change applies immediately. */
export const LinkFilters = () => {
  const [searchParams] = useSearchParams();
  const state = parseLinkState(searchParams);
  const tabs = [
    {
      to: buildListUrl(searchParams, { status: "" }),
      label: texts.all,
      isCurrent: state === undefined,
    },
    ...linkStates.map((linkState) => ({
      to: buildListUrl(searchParams, { status: linkState }),
      label: texts.states[linkState],
      isCurrent: state === linkState,
    })),
  ];
  return (
    <>
      <Tabs label={texts.status} tabs={tabs} />
      <search className={styles["filters"]}>
        <SearchField />
        <TokenFilter />
        <DateFilter name="from" label={texts.createdFrom} />
        <DateFilter name="to" label={texts.createdUntil} />
        {isFiltered(parseLinkFilter(searchParams)) && (
          <ButtonLink to="/links" variant="quiet">
            {texts.clearFilter}
          </ButtonLink>
        )}
      </search>
    </>
  );
};

/** Returns a parameter of the URL, and a function that changes it. */
const useParameter = (name: LinkFilterParameter) => {
  const [searchParams] = useSearchParams();
  const navigate = useNavigate();
  const setValue = (value: string): void =>
    void navigate(buildListUrl(searchParams, { [name]: value }), { replace: true });
  return [searchParams.get(name) ?? "", setValue] as const;
};

const SearchField = () => {
  const [query, setQuery] = useParameter("q");
  const [text, setText] = useState(query);
  // The last search that this field sent or showed. If the URL differs, it has changed elsewhere,
  // for example after Back.
  const knownQuery = useRef(query);
  useEffect(() => {
    if (query === knownQuery.current) return;
    knownQuery.current = query;
    setText(query);
  }, [query]);
  useEffect(() => {
    if (text === knownQuery.current) return undefined;
    const timer = setTimeout(() => {
      knownQuery.current = text;
      setQuery(text);
    }, typingPauseMs);
    return () => clearTimeout(timer);
  });
  return (
    <label className={styles["search"]}>
      <Icon node={search} />
      <span className={uiStyles["hidden"]}>{texts.search}</span>
      <input
        type="search"
        className={uiStyles["input"]}
        placeholder={texts.searchHint}
        maxLength={500}
        value={text}
        onChange={(event) => setText(event.target.value)}
      />
    </label>
  );
};

const TokenFilter = () => {
  const [tokenId, setTokenId] = useParameter("token");
  const allTokens = useOperationQuery("listTokens", {}).data?.data ?? [];
  // Live links from before modes existed can be on test networks.
  const tokens = mode === "test" ? allTokens.filter(isOfMode) : allTokens;
  return (
    <label className={styles["chip"]} data-set={tokenId !== ""}>
      {texts.token}
      <select value={tokenId} onChange={(event) => setTokenId(event.target.value)}>
        <option value="">{texts.all}</option>
        {tokens.map(({ id, token }) => (
          <option key={id} value={id}>
            {`${token.symbol} · ${token.chain.name}`}
          </option>
        ))}
      </select>
    </label>
  );
};

const DateFilter = ({ name, label }: { name: "from" | "to"; label: string }) => {
  const [day, setDay] = useParameter(name);
  return (
    <label className={styles["chip"]} data-set={day !== ""}>
      {label}
      <input type="date" value={day} onChange={(event) => setDay(event.target.value)} />
    </label>
  );
};
