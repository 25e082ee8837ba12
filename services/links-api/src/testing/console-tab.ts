import { readFileSync } from "node:fs";
import { SourceTextModule, createContext } from "node:vm";

const script = readFileSync(new URL("../pages/assets/console.js", import.meta.url), "utf8");

/** What the console API answers to `METHOD /path`; everything else is 404. */
type Answers = Record<string, { status?: number; body?: unknown; type?: string }>;

type TabOptions = {
  answers: Answers;
  search?: string;
  hash?: string;
  /** What an Ethereum wallet of the browser answers to each method (EIP-1193). */
  wallet?: (request: { method: string; params?: string[] }) => unknown;
};

/** As much of a DOM element as the script uses. */
class Element {
  hidden = false;
  typed = "";
  parent: Element | undefined;
  children: (Element | string)[] = [];
  readonly name: string;
  readonly attributes = new Map<string, string>();
  readonly listeners = new Map<string, (event: object) => Promise<void>>();

  constructor(name: string) {
    this.name = name;
  }
  setAttribute(name: string, value: string): void {
    this.attributes.set(name, value);
  }
  addEventListener(type: string, listener: (event: object) => Promise<void>): void {
    this.listeners.set(type, listener);
  }
  append(...children: (Element | string)[]): void {
    this.#adopt(children);
    this.children.push(...children);
  }
  prepend(...children: (Element | string)[]): void {
    this.#adopt(children);
    this.children.unshift(...children);
  }
  remove(): void {
    const siblings = this.parent?.children ?? [];
    siblings.splice(siblings.indexOf(this), 1);
  }
  #adopt(children: (Element | string)[]): void {
    for (const child of children) if (typeof child !== "string") child.parent = this;
  }
  replaceChildren(...children: (Element | string)[]): void {
    this.#adopt(children);
    this.children = children;
  }
  get textContent(): string {
    return this.children
      .map((child) => (typeof child === "string" ? child : child.textContent))
      .join("");
  }
  set textContent(text: string) {
    this.children = [text];
  }
  all(): Element[] {
    return [
      this,
      ...this.children.flatMap((child) => (typeof child === "string" ? [] : child.all())),
    ];
  }
}

/** Opens the console in a tab of a browser that has no more than the script needs, and runs it. */
export const openConsoleTab = async ({ answers, search = "", hash = "", wallet }: TabOptions) => {
  const notice = new Element("p");
  const content = new Element("div");
  content.hidden = true;
  const calls: { call: string; body: unknown }[] = [];
  const addresses: string[] = [];
  const channels: { hear: (() => void) | undefined }[] = [];
  const said: string[] = [];
  const ethereum =
    wallet === undefined
      ? undefined
      : { request: async (asked: { method: string; params?: string[] }) => wallet(asked) };
  const context = createContext({
    document: {
      querySelector: (selector: string) => (selector === "#notice" ? notice : content),
      createElement: (name: string) => new Element(name),
    },
    location: { hash, search, assign: (url: string) => addresses.push(url) },
    history: {
      replaceState: (_state: unknown, _title: string, url: string) => addresses.push(url),
    },
    window: { ethereum },
    fetch: async (path: string, init: { method: string; body?: string }) => {
      const call = `${init.method} ${path.replace("/console/api", "")}`;
      calls.push({ call, body: init.body === undefined ? undefined : JSON.parse(init.body) });
      const answer = answers[call] ?? { status: 404, body: { errors: [] } };
      const status = answer.status ?? 200;
      const ok = status < 400;
      return { status, ok, type: answer.type, json: async () => answer.body };
    },
    // What the script reads of a form: the text that was typed into its fields.
    FormData: class extends Map<string, string> {
      constructor(form: Element) {
        const fields = form.all().filter(({ attributes }) => attributes.has("name"));
        super(fields.map(({ attributes, typed }) => [attributes.get("name") ?? "", typed]));
      }
    },
    BroadcastChannel: class {
      hear: (() => void) | undefined;
      readonly name: string;
      constructor(name: string) {
        this.name = name;
        channels.push(this);
      }
      addEventListener(_type: string, hear: () => void): void {
        this.hear = hear;
      }
      postMessage(message: string): void {
        said.push(`${this.name} ${message}`);
      }
      close(): void {
        channels.splice(channels.indexOf(this), 1);
      }
    },
    TextEncoder,
    URLSearchParams,
  });
  const module = new SourceTextModule(script, { context });
  await module.link(() => {
    throw new Error("the script imports nothing");
  });
  await module.evaluate();
  return {
    calls,
    /** Where the address bar was sent. */
    addresses,
    notice: () => notice.textContent,
    text: () => (content.hidden ? "" : content.textContent),
    links: () => content.all().flatMap((element) => element.attributes.get("href") ?? []),
    /** What other tabs were told. */
    said,
    /** Another tab tells this one something. */
    hear: () => channels.at(-1)?.hear?.(),
    type: (name: string, text: string) => {
      const field = content.all().find(({ attributes }) => attributes.get("name") === name);
      if (field === undefined) throw new Error(`there is no field ${name}`);
      field.typed = text;
    },
    /** Clicks a button; ends when all is done that it does. */
    click: async (text: string) => {
      const button = content
        .all()
        .find(({ name, textContent }) => name === "button" && textContent === text);
      if (button === undefined) throw new Error(`there is no button ${text}`);
      const form = content.all().find((one) => one.name === "form" && one.all().includes(button));
      const [target, event] = form === undefined ? [button, "click"] : [form, "submit"];
      await target.listeners.get(event)?.({ preventDefault: () => {}, target });
    },
  };
};
