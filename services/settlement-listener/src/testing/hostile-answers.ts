import * as fc from "fast-check";

/** What a hostile node makes of an honest answer: the text that it sends instead. */
export type Spoiling = { name: string; spoil: (reply: unknown) => string };

const words = {
  hash: `0x${"ab".repeat(32)}`,
  zero: `0x${"00".repeat(32)}`,
  most: `0x${"ff".repeat(32)}`,
  address: `0x${"11".repeat(20)}`,
};

/** Values where others stood: of another type, out of bounds, negative, huge or of another chain. */
const hostileValue: fc.Arbitrary<unknown> = fc.oneof(
  fc.constantFrom<unknown>(null, true, false, [], {}, "", "0x", "0x0", "0x-1", "-0x1", "latest"),
  fc.constantFrom<unknown>(-1, 0, 1e308, -1e308, 0.1, Number.MAX_SAFE_INTEGER, 2 ** 64),
  fc.constantFrom<unknown>("0x1fffffffffffff", "0x20000000000000", "0xffffffffffffffff"),
  fc.constantFrom<unknown>("0x7ffffffffff", "0x0000000000000001", "0X1", " 0x1", "0x1\n", "\0"),
  fc.constantFrom<unknown>(words.hash, words.zero, words.most, words.address),
  fc.constantFrom<unknown>({ __proto__: null }, { length: 1e9 }, { hash: {} }, [[]], [null]),
  fc.integer({ min: 1, max: 5_000 }).map((count) => `0x${"f".repeat(count)}`),
  fc.string({ unit: "binary", maxLength: 100 }),
  fc.json({ maxDepth: 3 }).map((text) => JSON.parse(text) as unknown),
);

const steps = fc.array(fc.nat(200), { minLength: 1, maxLength: 8 });

/** One wrong place, or several. */
const misplaced = fc
  .array(fc.tuple(steps, hostileValue), { minLength: 1, maxLength: 3 })
  .map((places): Spoiling => ({
    name: `values ${JSON.stringify(places).slice(0, 200)}`,
    spoil: (reply) =>
      JSON.stringify(places.reduce((all, [at, value]) => put(all, at, value), reply)),
  }));

const fields = [
  "id jsonrpc result error number hash parentHash timestamp logsBloom",
  "address topics data blockNumber blockHash blockTimestamp transactionHash",
  "logIndex removed status from logs nonce transactions",
].flatMap((names) => names.split(" "));

/** One field of that name, or each, has another value. */
const renamed = fc
  .tuple(fc.constantFrom(...fields), hostileValue)
  .map(([field, value]): Spoiling => ({
    name: `${field} ${JSON.stringify(value)?.slice(0, 100)}`,
    spoil: (reply) => JSON.stringify(reply, (key, kept: unknown) => (key === field ? value : kept)),
  }));

const listed = fc
  .tuple(steps, fc.constantFrom("twice", "backwards", "empty", "halved"))
  .map(([at, how]): Spoiling => ({
    name: `lists ${how}`,
    spoil: (reply) => JSON.stringify(changeLists(reply, at[0] ?? 0, how)),
  }));

const leftOut = steps.map((at): Spoiling => ({
  name: "a field left out",
  spoil: (reply) => JSON.stringify(put(reply, at, undefined)),
}));

const noJson = fc
  .oneof(
    fc.constantFrom("", "null", "[]", "{}", "<html>", "{", "\u0000", "[".repeat(20_000), "1e999"),
    fc.constantFrom('{"__proto__":{"result":"0x1"}}', '{"error":{"code":"x"}}', '{"error":[]}'),
    fc.string({ unit: "binary", maxLength: 200 }),
  )
  .map((text): Spoiling => ({ name: `text ${text.slice(0, 40)}`, spoil: () => text }));

const cutOff = fc.nat(4_000).map((length): Spoiling => ({
  name: `cut after ${length}`,
  spoil: (reply) => JSON.stringify(reply).slice(0, length),
}));

const answerBytesMax = 32 * 1024 * 1024;
const huge = fc.constantFrom("0", "[", " ").map((one): Spoiling => ({
  name: `huge ${one}`,
  spoil: () => one.repeat(answerBytesMax + 1),
}));

/** A receipt's logs, each twice. */
const doubled = fc.constant<Spoiling>({
  name: "logs doubled",
  spoil: (reply) =>
    JSON.stringify(reply, (key, kept: unknown) =>
      key === "logs" && Array.isArray(kept) ? [...kept, ...kept] : kept,
    ),
});

const wrongType = fc
  .tuple(
    fc.constantFrom(...fields.filter((field) => field !== "removed" && field !== "error")),
    fc.constantFrom<unknown>(true, {}, "", "latest", -1, 0.1, 2 ** 64, "0x-1", "-0x1", ["0x1"]),
  )
  .map(([field, value]): Spoiling => ({
    name: `${field} ${JSON.stringify(value)}`,
    spoil: (reply) => JSON.stringify(reply, (key, kept: unknown) => (key === field ? value : kept)),
  }));

/** Answers that show nothing but that the node is broken: no lone provider's word is in them. */
export const brokenAnswer: fc.Arbitrary<Spoiling> = fc.oneof(
  { weight: 50, arbitrary: noJson },
  { weight: 20, arbitrary: cutOff },
  { weight: 30, arbitrary: listed.filter(({ name }) => /twice|backwards/.test(name)) },
  { weight: 60, arbitrary: wrongType },
  { weight: 30, arbitrary: doubled },
);

/** Answers that no honest node gives. */
export const hostileAnswer: fc.Arbitrary<Spoiling> = fc.oneof(
  { weight: 250, arbitrary: misplaced },
  { weight: 250, arbitrary: renamed },
  { weight: 200, arbitrary: listed },
  { weight: 150, arbitrary: leftOut },
  { weight: 100, arbitrary: noJson },
  { weight: 50, arbitrary: cutOff },
  { weight: 1, arbitrary: huge },
);

/** Every amount of a token's transfer is another one. */
const otherAmounts = fc.constantFrom(..."123456789").map((digit): Spoiling => ({
  name: "other amounts",
  spoil: (reply) =>
    JSON.stringify(reply, (key, kept: unknown) =>
      key === "data" && typeof kept === "string" && kept.length === words.hash.length
        ? `${kept.slice(0, -9)}${digit}${kept.slice(-8)}`
        : kept,
    ),
}));

const otherDigit = fc
  .tuple(steps, fc.nat(600), fc.integer({ min: 0, max: 15 }))
  .map(([at, place, digit]): Spoiling => ({
    name: "another digit",
    spoil: (reply) =>
      JSON.stringify(
        change(reply, at, (value) => {
          if (typeof value !== "string" || !/^0x[0-9a-f]{2}/.test(value)) return value;
          const index = 2 + (place % (value.length - 2));
          return `${value.slice(0, index)}${digit.toString(16)}${value.slice(index + 1)}`;
        }),
      ),
  }));

/** Answers that could be true: of another amount, block or account. */
export const plausibleAnswer: fc.Arbitrary<Spoiling> = fc.oneof(otherAmounts, otherDigit);

/** Puts a value at some place below: each step chooses one of the children that there are. */
const put = (tree: unknown, at: readonly number[], value: unknown): unknown =>
  change(tree, at, () => value);

const change = (
  tree: unknown,
  [step, ...more]: readonly number[],
  by: (value: unknown) => unknown,
): unknown => {
  if (step === undefined || typeof tree !== "object" || tree === null) return by(tree);
  const keys = Object.keys(tree);
  const key = keys[step % Math.max(1, keys.length)];
  if (key === undefined) return by(tree);
  const child: unknown = Reflect.get(tree, key);
  const changed = change(child, more, by);
  if (Array.isArray(tree))
    return tree.map((item: unknown, index) => (String(index) === key ? changed : item));
  return { ...tree, [key]: changed };
};

/** Changes the lists at some depth, those of a batch's answers included. */
const changeLists = (tree: unknown, depth: number, how: string): unknown => {
  if (Array.isArray(tree)) {
    const items: unknown[] = tree.map((item) => changeLists(item, depth - 1, how));
    if (depth % 4 !== 0) return items;
    if (how === "twice") return [...items, ...items];
    if (how === "backwards") return items.toReversed();
    return how === "empty" ? [] : items.slice(0, items.length / 2);
  }
  if (typeof tree !== "object" || tree === null) return tree;
  const entries = Object.entries(tree);
  return Object.fromEntries(
    entries.map(([key, value]) => [key, changeLists(value, depth - 1, how)]),
  );
};
