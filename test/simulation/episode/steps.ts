import { postgresSeam } from "../postgres-seam.ts";
import type { Errand } from "../shop/errands.ts";
import type { Act, Fate } from "../world.ts";
import type { Episode } from "./episode.ts";
import { call, kill, restartDue, upOf } from "./processes.ts";

const errandWaitMsMax = 1_500;

/** One thing happens; false if there is nothing that could. */
export const happen = async (episode: Episode): Promise<boolean> => {
  const { bus, processes, world } = episode;
  throwFailure(episode);
  if (episode.isOver()) throw new Error("nobody waits for the end");
  restartDue(processes);
  const offers = bus.offers();
  const idle = listIdle(episode);
  const readyCount = world.countReady();
  const total = readyCount + offers.length + idle.length;
  if (total === 0) return false;
  const chosen = world.random.below(total);
  const offer = offers[chosen - readyCount];
  const errand = idle[chosen - readyCount - offers.length];
  if (chosen < readyCount) {
    await world.step(
      (act) => decide(episode, act),
      (owner) => kill(processes, owner),
    );
  } else if (offer !== undefined) {
    world.say(offer.what);
    offer.begin();
    await world.quiet();
  } else if (errand !== undefined) {
    runErrand(episode, errand);
    await world.quiet();
  }
  throwFailure(episode);
  return true;
};

const throwFailure = ({ failure }: Episode): void => {
  if (failure !== undefined) throw failure;
};

/** What somebody may ask for now, some of it although it is under way. */
const listIdle = ({ isWild, processes, shop, world }: Episode): readonly Errand[] =>
  shop.errands.filter(
    (errand) =>
      upOf(processes, errand.service).length > 0 &&
      errand.notBeforeMs <= world.nowMs() &&
      (errand.underWay === 0 || (isWild && errand.underWay < 2 && world.random.chance(0.02))),
  );

const decide = ({ isWild, mood, world }: Episode, act: Act): Fate => {
  if (!isWild || act.fates.length === 0) return "pass";
  if (act.fates.includes("late") && world.random.chance(mood.lateCommit)) return "late";
  const odds = act.kind === "sql" ? mood.statement : mood.call;
  return world.random.chance(odds) ? world.random.pick(act.fates) : "pass";
};

const runErrand = (episode: Episode, errand: Errand): void => {
  const { processes, shop, world } = episode;
  const replica = world.random.pick(upOf(processes, errand.service));
  errand.underWay += 1;
  world.say(`errand ${errand.what} to ${replica.owner.name}`);
  call(processes, replica, { isInternal: errand.isInternal === true, sent: errand.send() })
    .then((answer) => {
      errand.underWay -= 1;
      world.say(`errand ${errand.what}: ${answer.status}`);
      if (!shop.errands.includes(errand)) return;
      errand.notBeforeMs = world.nowMs() + 100 + world.random.below(errandWaitMsMax);
      if (errand.answered(answer)) shop.errands.splice(shop.errands.indexOf(errand), 1);
    })
    .catch((error: unknown) => {
      episode.failure ??= error;
    });
};

/** Time passes until something can happen again, and a little more. */
export const flyTo = ({ processes, shop, world }: Episode, moreMsMax: number): void => {
  const next = Math.min(
    world.nextTimerMs() ?? Infinity,
    ...processes.restarts.map(({ atMs }) => atMs),
    ...shop.errands.map(({ notBeforeMs }) => Math.max(notBeforeMs, world.nowMs() + 1)),
  );
  // Nobody's wait for a late commit's locks runs out before they are given back.
  const moreMs = postgresSeam.isLate() ? 0 : world.random.below(moreMsMax);
  const byMs = Math.max(0, next - world.nowMs()) + moreMs;
  world.advance(Number.isFinite(byMs) ? byMs : 1_000);
};
