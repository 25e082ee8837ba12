// What makes a test fail on a busy machine, found in the syntax tree of a test file. Each finder
// yields the faults of one rule of `lint-plugin.ts`. They know names, not types: a delay that goes
// through another module's function stays unseen, which is why the rules also bound the helpers.

/** A node of the tree, in the form of ESTree. */
export type Node = { type: string; [key: string]: unknown };
type Fault = { node: Node; message: string };
export type Finder = (program: Node) => Iterable<Fault>;

/** The shortest limit for what a test waits for, in milliseconds. */
const limitMsMin = 60_000;

const isNode = (value: unknown): value is Node =>
  typeof value === "object" && value !== null && "type" in value && typeof value.type === "string";

/** A node with the nodes above it, the nearest first. */
type Visit = readonly [node: Node, above: readonly Node[]];

/** Every rule walks over the same trees. */
const walked = new WeakMap<Node, readonly Visit[]>();

/** Each node below and including the given one. */
const walk = (root: Node): readonly Visit[] => {
  const known = walked.get(root);
  if (known !== undefined) return known;
  const visits: Visit[] = [];
  const visit = (node: Node, above: readonly Node[]): void => {
    visits.push([node, above]);
    const path = [node, ...above];
    for (const key in node) {
      if (key === "parent") continue;
      const value = node[key];
      for (const one of Array.isArray(value) ? value : [value]) if (isNode(one)) visit(one, path);
    }
  };
  visit(root, []);
  walked.set(root, visits);
  return visits;
};

const nodeIn = (node: Node | undefined, key: string): Node | undefined => {
  const value = node?.[key];
  return isNode(value) ? value : undefined;
};

const nodesIn = (node: Node, key: string): Node[] => {
  const value = node[key];
  return Array.isArray(value) ? value.filter(isNode) : [];
};

/** The last name of `a`, `b.a` or `b["a"]`. */
const nameOf = (node: Node | undefined): string | undefined => {
  if (node?.type === "Identifier") return String(node["name"]);
  if (node?.type === "Literal") return String(node["value"]);
  if (node?.type === "MemberExpression") return nameOf(nodeIn(node, "property"));
  if (node?.type === "ChainExpression") return nameOf(nodeIn(node, "expression"));
  return undefined;
};

const objectNameOf = (node: Node | undefined): string | undefined =>
  node?.type === "MemberExpression" ? nameOf(nodeIn(node, "object")) : undefined;

const calleeOf = (node: Node): Node | undefined =>
  node.type === "CallExpression" || node.type === "NewExpression"
    ? nodeIn(node, "callee")
    : undefined;

const argumentsOf = (node: Node): Node[] => nodesIn(node, "arguments");

const callsOf = function* (program: Node): Iterable<[Node, string, readonly Node[]]> {
  for (const [node, above] of walk(program)) {
    const name = node.type === "CallExpression" ? nameOf(calleeOf(node)) : undefined;
    if (name !== undefined) yield [node, name, above];
  }
};

/** `performance.now()`, `Date.now()`, `process.hrtime()` and `process.hrtime.bigint()`. */
const isClockRead = (node: Node): boolean => {
  const callee = calleeOf(node);
  const [object, name] = [objectNameOf(callee), nameOf(callee)];
  if (name === "now") return object === "performance" || object === "Date";
  return name === "hrtime" || object === "hrtime";
};

const readsClock = (node: Node | undefined): boolean =>
  node !== undefined && walk(node).some(([one]) => isClockRead(one));

/** The texts of a file: string literals, and the fixed parts of templates joined by `${}`. */
const textsOf = function* (program: Node): Iterable<[Node, string]> {
  for (const [node] of walk(program)) {
    if (node.type === "Literal" && typeof node["value"] === "string") yield [node, node["value"]];
    if (node.type !== "TemplateLiteral") continue;
    const parts = nodesIn(node, "quasis").map(({ value }) =>
      typeof value === "object" && value !== null && "cooked" in value ? String(value.cooked) : "",
    );
    yield [node, parts.join("${}")];
  }
};

/** The names and values of the constants that a file defines by numbers. */
const numbersOf = (program: Node): ReadonlyMap<string, number> => {
  const numbers = new Map<string, number>();
  for (const [node, above] of walk(program)) {
    if (node.type !== "VariableDeclarator" || above[0]?.["kind"] !== "const") continue;
    const [name, value] = [nameOf(nodeIn(node, "id")), valueOf(nodeIn(node, "init"), numbers)];
    if (name !== undefined && value !== undefined) numbers.set(name, value);
  }
  return numbers;
};

/** The number that an expression stands for; undefined if only the run knows. */
const valueOf = (
  node: Node | undefined,
  numbers: ReadonlyMap<string, number>,
): number | undefined => {
  if (node?.type === "Literal")
    return typeof node["value"] === "number" ? node["value"] : undefined;
  if (node?.type === "Identifier") return numbers.get(String(node["name"]));
  if (node?.type !== "BinaryExpression") return undefined;
  const left = valueOf(nodeIn(node, "left"), numbers);
  const right = valueOf(nodeIn(node, "right"), numbers);
  if (left === undefined || right === undefined) return undefined;
  const { operator } = node;
  if (operator === "*") return left * right;
  if (operator === "+") return left + right;
  return operator === "-" ? left - right : undefined;
};

const waiters = new Set(["waitUntil", "eventually"]);

const waitMessage =
  "A fixed wait fails on a busy machine. Wait for a condition by waitUntil; where the delay is the test's input, use injectDelay of runtime/testing/inject-delay.";

/** `setTimeout` is a time limit, and no wait, where the same file clears it. */
const isCleared = (above: readonly Node[], clearedNames: ReadonlySet<string>): boolean => {
  const [holder] = above;
  if (holder?.type === "VariableDeclarator")
    return clearedNames.has(nameOf(nodeIn(holder, "id")) ?? "");
  if (holder?.type !== "AssignmentExpression") return false;
  return clearedNames.has(nameOf(nodeIn(holder, "left")) ?? "");
};

const clearedNamesOf = (program: Node): ReadonlySet<string> => {
  const names = new Set<string>();
  for (const [node, name] of callsOf(program)) {
    if (name === "clearTimeout") names.add(nameOf(argumentsOf(node)[0]) ?? "");
  }
  return names;
};

/** Reports delays after which a test goes on, whatever has happened. */
export const findFixedWaits: Finder = function* (program) {
  const clearedNames = clearedNamesOf(program);
  for (const [node] of walk(program)) {
    const isTimers = /^(node:)?timers\/promises$/.test(nameOf(nodeIn(node, "source")) ?? "");
    if (node.type !== "ImportDeclaration" || !isTimers) continue;
    for (const specifier of nodesIn(node, "specifiers")) {
      const name = nameOf(nodeIn(specifier, "imported"));
      if (name !== "setImmediate") yield { node: specifier, message: waitMessage };
    }
  }
  for (const [node, name, above] of callsOf(program)) {
    const isWait =
      name === "waitForTimeout" ||
      (name === "until" && objectNameOf(calleeOf(node)) === "systemClock") ||
      (name === "setTimeout" && !isCleared(above, clearedNames));
    if (isWait) yield { node, message: waitMessage };
    if (waiters.has(name) && argumentsOf(node).some((one) => readsClock(one))) {
      yield { node, message: waitMessage };
    }
  }
  for (const [node] of walk(program)) {
    const isLoop = node.type === "WhileStatement" || node.type === "DoWhileStatement";
    if (isLoop && readsClock(nodeIn(node, "test"))) yield { node, message: waitMessage };
  }
  for (const [node, text] of textsOf(program)) {
    for (const [, seconds = ""] of text.matchAll(/pg_sleep\(\s*([\d.]*)/gi)) {
      // A statement that lasts for an hour is one that never ends by itself.
      if (!(Number(seconds) >= 3_600)) yield { node, message: sleepMessage };
    }
  }
};

const sleepMessage =
  "pg_sleep of some seconds is a fixed wait. Let the statement wait for a lock that the test gives up, or for pg_sleep(3600) that the test cancels.";

const upperBounds = new Set([
  "toBe",
  "toBeCloseTo",
  "toBeLessThan",
  "toBeLessThanOrEqual",
  "toEqual",
  "toStrictEqual",
]);

/** Reports upper bounds on real time. A lower bound holds on a slow machine, too. */
export const findSpeedComparisons: Finder = function* (program) {
  const known = knownIn(program);
  for (const [node, name] of callsOf(program)) {
    if (!upperBounds.has(name)) continue;
    const [bound] = argumentsOf(node);
    const isGenerous = bound !== undefined && nameOf(calleeOf(bound)) === "hangLimitMs";
    const compared = comparedBy(node);
    if (isGenerous || compared === undefined || !isDuration(compared, known)) continue;
    yield {
      node,
      message:
        "How long something takes says nothing on a busy machine. State a count or an order; where only a hang matters, bound it by hangLimitMs of runtime/testing/time-limits; for a cost, use cpuMsOf.",
    };
  }
};

/** What `expect` was given, of `expect(…).not.toBe(…)`. */
const comparedBy = (node: Node): Node | undefined => {
  let callee = calleeOf(node);
  while (callee?.type === "MemberExpression") {
    const object = nodeIn(callee, "object");
    if (object?.type !== "CallExpression") callee = object;
    else return nameOf(calleeOf(object)) === "expect" ? argumentsOf(object)[0] : undefined;
  }
  return undefined;
};

/** An instant that was read from the clock, less another: what is not known to be a number. */
const isClockDifference = (node: Node, instants: ReadonlySet<string>): boolean => {
  if (node.type !== "BinaryExpression" || node["operator"] !== "-") return false;
  const sides = [nodeIn(node, "left"), nodeIn(node, "right")];
  const isInstant = (side: Node | undefined) =>
    side !== undefined && (isClockRead(side) || instants.has(nameOf(side) ?? ""));
  return sides.some(isInstant) && !sides.some((side) => side?.type === "Literal");
};

type Known = { instants: ReadonlySet<string>; durations: ReadonlySet<string> };

/** A difference of instants, a name of one, or what is computed of one. */
const isDuration = (node: Node | undefined, known: Known): boolean => {
  if (node === undefined) return false;
  if (isClockDifference(node, known.instants)) return true;
  if (node.type === "Identifier" || node.type === "MemberExpression") {
    return known.durations.has(nameOf(node) ?? "");
  }
  if (node.type === "BinaryExpression") {
    return isDuration(nodeIn(node, "left"), known) || isDuration(nodeIn(node, "right"), known);
  }
  const isMath = objectNameOf(calleeOf(node)) === "Math";
  return isMath && argumentsOf(node).some((one) => isDuration(one, known));
};

/** The names to which a file gives an instant or a duration, directly or by another such name. */
const knownIn = (program: Node): Known => {
  const named = walk(program).flatMap(([node]) => namedValuesOf(node));
  const instants = new Set<string>();
  for (const [name, value] of named) if (isClockRead(value)) instants.add(name);
  const durations = new Set<string>();
  for (let before = -1; before < durations.size;) {
    before = durations.size;
    for (const [name, value] of named) {
      if (isDuration(value, { instants, durations })) durations.add(name);
    }
  }
  return { instants, durations };
};

const namedValueKeys: Record<string, [string, string]> = {
  VariableDeclarator: ["id", "init"],
  AssignmentExpression: ["left", "right"],
  Property: ["key", "value"],
};

/** The names that a node gives to values. */
const namedValuesOf = (node: Node): [string, Node][] => {
  const [nameKey, valueKey] = namedValueKeys[node.type] ?? ["", ""];
  const [name, value] = [nameOf(nodeIn(node, nameKey)), nodeIn(node, valueKey)];
  return name === undefined || value === undefined ? [] : [[name, value]];
};

const limitMessage =
  "A slow machine needs ten times as long as a quiet one. Leave the limit out, or set at least 60 s.";
const timeoutMessage =
  "A slow machine lets this time-out of the product expire. Use ampleTimeoutMs of runtime/testing/time-limits; where it shall expire, wrap it in provokedTimeoutMs.";

const tests = new Set(["test", "it"]);
const hooks = new Set(["beforeAll", "beforeEach", "afterAll", "afterEach"]);

/** `test(…)`, `test.skip(…)` and `test.each(…)(…)` as "test"; undefined for what is no test. */
const jestNameOf = (node: Node): string | undefined => {
  let callee = calleeOf(node);
  while (callee !== undefined && callee.type !== "Identifier") {
    callee = callee.type === "MemberExpression" ? nodeIn(callee, "object") : calleeOf(callee);
  }
  return nameOf(callee);
};

const ownLimits = /^(timeout|bodyTimeout|headersTimeout|connectTimeout|handshakeTimeout)$/;
const productTimeouts = /^(timeoutMs|\w+TimeoutMs|askingMsMax|answerMsMax|silenceMsMax)$/;

/** Jest's own limit for a test (`testTimeout`): no test sets a lower one. */
const testMsMin = 300_000;

/** Reports limits that a busy machine exceeds although nothing is wrong. */
export const findShortLimits: Finder = function* (program) {
  const numbers = numbersOf(program);
  const isShort = (node: Node | undefined, msMin = limitMsMin) => {
    const value = valueOf(node, numbers);
    return value !== undefined && value > 0 && value < msMin;
  };
  const clearedNames = clearedNamesOf(program);
  for (const [node] of walk(program)) {
    if (node.type !== "CallExpression") continue;
    const [name, given] = [nameOf(calleeOf(node)), argumentsOf(node)];
    const jestName = jestNameOf(node) ?? "";
    const limit =
      (waiters.has(name ?? "") && given[2]) ||
      (hooks.has(jestName) && given[1]) ||
      (/^setDefault(Navigation)?Timeout$/.test(name ?? "") && given[0]) ||
      (name === "timeout" && objectNameOf(calleeOf(node)) === "AbortSignal" && given[0]);
    if (limit && isShort(limit)) yield { node: limit, message: limitMessage };
    const testLimit = tests.has(jestName) ? given[2] : undefined;
    if (testLimit && isShort(testLimit, testMsMin))
      yield { node: testLimit, message: limitMessage };
  }
  for (const [node, name, above] of callsOf(program)) {
    const isLimit = name === "setTimeout" && isCleared(above, clearedNames);
    if (isLimit && isShort(argumentsOf(node)[1])) yield { node, message: limitMessage };
  }
  for (const [node, above] of walk(program)) {
    if (node.type !== "Property" || !isShort(nodeIn(node, "value"))) continue;
    const name = nameOf(nodeIn(node, "key")) ?? "";
    // An object that is compared sets no limit.
    const isExpected = above.some((one) => comparedBy(one) !== undefined);
    if (isExpected) continue;
    const isProvoked = nameOf(nodeIn(node, "value"))?.startsWith("provoked") ?? false;
    if (productTimeouts.test(name) && !isProvoked) yield { node, message: timeoutMessage };
    const isGiven = above[0]?.type === "ObjectExpression" && above[1]?.type === "CallExpression";
    if (ownLimits.test(name) && isGiven) yield { node, message: limitMessage };
  }
};

/** Reports what 2 test files at the same time would share. */
export const findSharedResources: Finder = function* (program) {
  const fixedPort = "A fixed port may be taken. Listen on port 0, or take one by findFreePorts.";
  for (const [node, above] of walk(program)) {
    if (node.type === "Property" && nameOf(nodeIn(node, "key")) === "redisDatabase") {
      yield {
        node,
        message: "2 tests may choose the same database: claimRedisDatabase chooses one.",
      };
    }
    if (nameOf(calleeOf(node)) === "testRedisUrl") {
      yield { node, message: "Every test file uses this database: claimRedisDatabase has others." };
    }
    if (nameOf(calleeOf(node)) === "tmpdir" && isPath(above) && !isForOwnFolder(above)) {
      yield { node, message: "Another run may use the same file. Make a folder by mkdtemp first." };
    }
  }
  for (const [node, name] of callsOf(program)) {
    if (name !== "listen") continue;
    const [first] = argumentsOf(node);
    const port =
      first?.type === "ObjectExpression"
        ? nodeIn(
            nodesIn(first, "properties").find((one) => nameOf(nodeIn(one, "key")) === "port"),
            "value",
          )
        : first;
    if (port?.type === "Literal" && Number(port["value"]) > 0) yield { node, message: fixedPort };
  }
  for (const [node, text] of textsOf(program)) {
    if (/^rediss?:\/\/.*\/\d+$/.test(text)) {
      yield {
        node,
        message: "2 tests may choose the same database: claimRedisDatabase chooses one.",
      };
    }
    if (/\bCREATE (ROLE|USER|DATABASE) (?!\$\{\})\w/i.test(text)) {
      yield { node, message: "Names of roles and databases belong to the whole server: draw one." };
    }
  }
};

/** `join(tmpdir(), …)` or `${tmpdir()}/…`: something below it. */
const isPath = ([holder]: readonly Node[]): boolean =>
  nameOf(holder && calleeOf(holder)) === "join" || holder?.type === "TemplateLiteral";

const isForOwnFolder = (above: readonly Node[]): boolean =>
  above.some((node) => /^mkdtemp(Sync)?$/.test(nameOf(calleeOf(node)) ?? ""));
