// Adds the copy buttons, marks the current section, and opens the search. Without this script, the
// pages are complete except for these.
const copiedMs = 2000;

const template = document.getElementById("copy-button");

for (const block of document.querySelectorAll(".code")) {
  const button = template.content.firstElementChild.cloneNode(true);
  button.addEventListener("click", async () => {
    await navigator.clipboard.writeText(block.querySelector("code").textContent);
    button.classList.add("copied");
    button.setAttribute("aria-label", "Copied");
    setTimeout(() => {
      button.classList.remove("copied");
      button.setAttribute("aria-label", "Copy code");
    }, copiedMs);
  });
  block.append(button);
}

// A block that scrolls can be focused, so that the keyboard can scroll it in every browser.
const markScrollers = () => {
  for (const block of document.querySelectorAll(".table, pre")) {
    const isScroller =
      block.scrollWidth > block.clientWidth || block.scrollHeight > block.clientHeight;
    if (isScroller) block.tabIndex = 0;
    else block.removeAttribute("tabindex");
  }
};
addEventListener("resize", markScrollers);
document.addEventListener("toggle", markScrollers, true);
markScrollers();

const contentsLinks = new Map(
  [...document.querySelectorAll(".contents a")].map((link) => [
    decodeURIComponent(link.hash.slice(1)),
    link,
  ]),
);

// The current section is the last one whose heading has reached the top of the window.
const markCurrentSection = () => {
  const headings = [...contentsLinks.keys()].map((id) => document.getElementById(id));
  const passed = headings.filter((heading) => heading.getBoundingClientRect().top < 120);
  const current = passed.at(-1)?.id;
  for (const [id, link] of contentsLinks) {
    if (id === current) link.setAttribute("aria-current", "true");
    else link.removeAttribute("aria-current");
  }
};
if (contentsLinks.size > 0) {
  addEventListener("scroll", () => requestAnimationFrame(markCurrentSection), { passive: true });
  markCurrentSection();
}

const openButton = document.getElementById("open-search");
const { search: searchUrl } = document.querySelector("script[data-search]").dataset;
let isOpening = false;

const openSearch = async () => {
  if (isOpening) return;
  isOpening = true;
  try {
    const { showSearch } = await import(searchUrl);
    await showSearch();
  } finally {
    isOpening = false;
  }
};

openButton.hidden = false;
openButton.addEventListener("click", openSearch);
addEventListener("keydown", (event) => {
  const isTyping = event.target.closest?.("input, textarea, select, [contenteditable]");
  const isShortcut =
    (event.key === "/" && !isTyping && !event.ctrlKey && !event.metaKey && !event.altKey) ||
    (event.key.toLowerCase() === "k" && (event.metaKey || event.ctrlKey));
  if (!isShortcut) return;
  event.preventDefault();
  void openSearch();
});
