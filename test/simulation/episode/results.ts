import { depositDecisions } from "@payment-links/contracts";
import { finalDepth } from "../block.ts";
import type { ShownDeposit } from "../deposit-model.ts";
import { Finding, hold } from "../finding.ts";
import type { Received } from "../inject-request.ts";
import type { ShownLink, ShownOverview, ShownPayment } from "../model.ts";
import { cookieOf } from "../shop/accounts.ts";
import { beCalm, hasPassed, isQuiet, restMs } from "./calm.ts";
import type { Episode } from "./episode.ts";
import { rescan } from "./operators.ts";
import { call, upOf } from "./processes.ts";
import { happen } from "./steps.ts";

/** Holds all that the system says, once all is quiet, against what is true. */
export const holdResults = async (episode: Episode): Promise<void> => {
  const { chain, model, shop, world } = episode;
  await noteUnknownNonces(episode);
  await holdLinks(episode, { isReadAgain: false });
  await holdDeposits(episode, { isReadAgain: false });
  if (!model.mayLackAny() && !model.deposits.mayLackAny()) return;
  world.count("all is read again");
  rescan(shop, { fromBlock: 0, toBlock: chain.ofDepth(finalDepth).slot });
  // On Solana what is final is the newest block that was kept, which may be below.
  await beCalm(episode, isQuiet);
  await beCalm(episode, hasPassed(episode, restMs));
  await holdLinks(episode, { isReadAgain: true });
  await holdDeposits(episode, { isReadAgain: true });
};

/** Tells the model what was taken away by its chain before two nodes had told its nonce. */
export const noteUnknownNonces = async ({ admin, model }: Episode): Promise<void> => {
  const { rows } = await admin.query<{ hash: string }>(
    `SELECT transaction_hash AS hash FROM settlement_listener.chain_transfers
     WHERE nonce IS NULL AND is_orphaned`,
  );
  for (const { hash } of rows) model.hasNoNonce(hash);
};

type Pass = { isReadAgain: boolean };

const holdLinks = async (episode: Episode, { isReadAgain }: Pass): Promise<void> => {
  const { model, shop, world } = episode;
  const listed = new Map<number, ShownPayment[]>();
  for (const order of model.orders) {
    const cookie = cookieOf(shop, order.account);
    const path = `/console/api/payment-links/${order.linkId}`;
    const shown = (await get(episode, `/v1/payment-link/${order.linkId}`, {})) as ShownLink;
    const { payments } = (await get(episode, path, cookie)) as { payments: ShownPayment[] };
    model.holdLink(order, shown, payments, { isReadAgain, now: world.now() });
    listed.set(order.account, [...(listed.get(order.account) ?? []), ...payments]);
  }
  for (const [account, payments] of listed) {
    const path = "/console/api/overview?days=7";
    const overview = (await get(episode, path, cookieOf(shop, account))) as ShownOverview;
    model.holdOverview(overview, payments);
  }
};

const holdDeposits = async (episode: Episode, pass: Pass): Promise<void> => {
  const { model, shop } = episode;
  for (let account = 0; account < shop.accounts.length; account += 1) {
    const shown: ShownDeposit[] = [];
    for (const decision of depositDecisions) {
      shown.push(...(await listDeposits(episode, account, decision)));
    }
    model.deposits.listed(account, shown);
    model.deposits.holdLists(account, shown, pass);
  }
};

const listDeposits = async (
  episode: Episode,
  account: number,
  decision: string,
): Promise<readonly ShownDeposit[]> => {
  const shown: ShownDeposit[] = [];
  for (let offset: number | null = 0; offset !== null;) {
    const path = `/console/api/deposits?decision=${decision}&offset=${offset}`;
    const page = (await get(episode, path, cookieOf(episode.shop, account))) as {
      data: ShownDeposit[];
      nextOffset: number | null;
    };
    shown.push(...page.data);
    offset = page.nextOffset;
  }
  return shown;
};

const get = async (
  episode: Episode,
  path: string,
  headers: Record<string, string>,
): Promise<unknown> => {
  const { processes, world } = episode;
  const [replica] = upOf(processes, "links-api");
  if (replica === undefined) throw new Finding("no links-api is up");
  const got: Received[] = [];
  const sent = { method: "GET", path, headers } as const;
  void call(processes, replica, { isInternal: false, sent }).then((one) => got.push(one));
  await world.quiet();
  while (got.length === 0 && (await happen(episode)));
  const [answer] = got;
  hold(answer?.status === 200, () => `${path}: ${answer?.status} ${answer?.text}`);
  return JSON.parse(answer.text);
};
