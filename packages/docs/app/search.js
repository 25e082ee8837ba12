// The search. Its index is loaded when it is first opened.
import MiniSearch from "minisearch";

const resultsMax = 12;
const fullMatchesMin = 3;
const excerptLengthMax = 120;

const dialog = document.getElementById("search");
const input = document.getElementById("search-input");
const list = document.getElementById("search-results");
const status = document.getElementById("search-status");

// Codes and event types can be found as a whole and by their parts.
const tokenize = (text) => {
  const words = text.split(/[\s,;:()[\]{}"'`|/<>=!?*&]+/).filter((word) => word !== "");
  return words.flatMap((word) => {
    const trimmed = word.replace(/\.+$/, "");
    const parts = trimmed.split(/[._-]+/).filter((part) => part !== "");
    return parts.length > 1 ? [trimmed, ...parts] : parts;
  });
};

const loadIndex = async () => {
  const response = await fetch("./search-index.json");
  if (!response.ok) throw new Error(`the search index responded with ${response.status}`);
  const index = new MiniSearch({
    fields: ["title", "page", "text"],
    storeFields: ["title", "page", "text"],
    tokenize,
    searchOptions: {
      boost: { title: 6, page: 2 },
      prefix: (term) => term.length > 1,
      fuzzy: (term) => (term.length > 4 ? 0.2 : false),
      combineWith: "AND",
    },
  });
  index.addAll(await response.json());
  return index;
};

let indexPromise;

/** Opens the search. */
export const showSearch = async () => {
  if (!dialog.open) dialog.showModal();
  input.select();
  indexPromise ??= loadIndex();
  try {
    await indexPromise;
    await update();
  } catch {
    indexPromise = undefined;
    status.textContent = "The search couldn't be loaded. Check your connection and try again.";
  }
};

const update = async () => {
  const query = input.value.trim();
  const index = await indexPromise;
  if (index === undefined || query !== input.value.trim()) return;
  const results = query === "" ? [] : findSections(index, query).slice(0, resultsMax);
  list.replaceChildren(...results.map(createResult));
  list.hidden = results.length === 0;
  input.setAttribute("aria-expanded", String(results.length > 0));
  status.textContent = query !== "" && results.length === 0 ? `No results for “${query}”.` : "";
  select(0);
};

// Sections with all words come first. If there are only a few, those with some of the words follow.
const findSections = (index, query) => {
  const matches = index.search(query);
  if (matches.length >= fullMatchesMin) return matches;
  const ids = new Set(matches.map(({ id }) => id));
  const partialMatches = index.search(query, { combineWith: "OR" });
  return [...matches, ...partialMatches.filter(({ id }) => !ids.has(id))];
};

const createResult = ({ id, page, text, title }, index) => {
  const item = document.createElement("li");
  item.id = `search-result-${index}`;
  item.setAttribute("role", "option");
  item.dataset.href = id;
  const heading = document.createElement("strong");
  heading.textContent = title;
  const place = document.createElement("span");
  place.textContent = page === title ? "" : page;
  const excerpt = document.createElement("small");
  excerpt.textContent =
    text.length > excerptLengthMax ? `${text.slice(0, excerptLengthMax)}…` : text;
  item.append(heading, place, excerpt);
  item.addEventListener("click", () => follow(item));
  return item;
};

let selected;

const select = (index) => {
  const items = [...list.children];
  selected = items[Math.max(0, Math.min(index, items.length - 1))];
  for (const item of items) item.setAttribute("aria-selected", String(item === selected));
  if (selected === undefined) input.removeAttribute("aria-activedescendant");
  else input.setAttribute("aria-activedescendant", selected.id);
  selected?.scrollIntoView({ block: "nearest" });
};

const follow = (item) => {
  if (item === undefined) return;
  dialog.close();
  location.assign(item.dataset.href);
};

input.addEventListener("input", update);
input.addEventListener("keydown", (event) => {
  const position = [...list.children].indexOf(selected);
  if (event.key === "ArrowDown") select(position + 1);
  else if (event.key === "ArrowUp") select(position - 1);
  else if (event.key === "Enter") follow(selected);
  else return;
  event.preventDefault();
});
document.getElementById("close-search").addEventListener("click", () => dialog.close());
dialog.addEventListener("click", (event) => {
  if (event.target === dialog) dialog.close();
});
