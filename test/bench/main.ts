import { benchCreate } from "./create.ts";
import { benchList } from "./list.ts";
import { benchRetrieve } from "./retrieve.ts";
import type { Verdict } from "./rounds.ts";
import { openStage } from "./stage.ts";

const benches = { create: benchCreate, retrieve: benchRetrieve, list: benchList };

const name = process.argv[2] ?? "";
if (!Object.hasOwn(benches, name)) {
  process.stderr.write(`usage: npm run --silent bench -- ${Object.keys(benches).join(" | ")}\n`);
  process.exit(2);
}

const stage = await openStage();
let verdict: Verdict;
try {
  verdict = await benches[name as keyof typeof benches](stage);
} finally {
  await stage.close();
}
process.stdout.write(`${JSON.stringify({ bench: name, ...verdict })}\n`);
