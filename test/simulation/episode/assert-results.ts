import { depositDecisions } from "@payment-links/contracts";
import { finalDepth } from "../block.ts";
import type { ListedDeposit } from "../deposit-model.ts";
import { Finding, assertInvariant } from "../finding.ts";
import type { InjectedResponse } from "../inject-request.ts";
import type { LinkResponse, OverviewResponse, ListedPayment } from "../model.ts";
import { getCookieHeader } from "../shop/accounts.ts";
import { runUntil, createTimePassedCheck, isChainAndWorkDone, idleMs } from "./run-until.ts";
import type { Episode } from "./episode.ts";
import { rescan } from "./operators.ts";
import { callReplica, listRunningReplicas } from "./processes.ts";
import { runNextStep } from "./run-next-step.ts";

/** Compares everything that the system reports with the model. Runs after all work is done. */
export const assertResults = async (episode: Episode): Promise<void> => {
  const { chain, model, shop, world } = episode;
  await noteUnknownNonces(episode);
  await assertLinks(episode, { isRescanned: false });
  await assertDeposits(episode, { isRescanned: false });
  if (!model.mayHaveMissedAny() && !model.deposits.mayHaveMissedAny()) return;
  world.count("rescans of all blocks");
  rescan(shop, { fromBlock: 0, toBlock: chain.blockAtDepth(finalDepth).slot });
  // On Solana, the final block is the newest block that was not orphaned. It can be lower.
  await runUntil(episode, isChainAndWorkDone);
  await runUntil(episode, createTimePassedCheck(episode, idleMs));
  await assertLinks(episode, { isRescanned: true });
  await assertDeposits(episode, { isRescanned: true });
};

/** Informs the model about transactions that were orphaned before two nodes had reported their nonce. */
export const noteUnknownNonces = async ({ admin, model }: Episode): Promise<void> => {
  const { rows } = await admin.query<{ hash: string }>(
    `SELECT transaction_hash AS hash FROM settlement_listener.chain_transfers
     WHERE nonce IS NULL AND is_orphaned`,
  );
  for (const { hash } of rows) model.onUnknownNonce(hash);
};

type AssertOptions = { isRescanned: boolean };

const assertLinks = async (episode: Episode, { isRescanned }: AssertOptions): Promise<void> => {
  const { model, shop, world } = episode;
  const paymentsByAccount = new Map<number, ListedPayment[]>();
  for (const order of model.orders) {
    const cookie = getCookieHeader(shop, order.account);
    const path = `/console/api/payment-links/${order.linkId}`;
    const linkResponse = (await fetchJson(
      episode,
      `/v1/payment-link/${order.linkId}`,
      {},
    )) as LinkResponse;
    const { payments } = (await fetchJson(episode, path, cookie)) as { payments: ListedPayment[] };
    model.assertLink(order, linkResponse, payments, { isRescanned, now: world.now() });
    paymentsByAccount.set(order.account, [
      ...(paymentsByAccount.get(order.account) ?? []),
      ...payments,
    ]);
  }
  for (const [account, payments] of paymentsByAccount) {
    const path = "/console/api/overview?days=7";
    const overview = (await fetchJson(
      episode,
      path,
      getCookieHeader(shop, account),
    )) as OverviewResponse;
    model.assertOverview(overview, payments);
  }
};

const assertDeposits = async (episode: Episode, options: AssertOptions): Promise<void> => {
  const { model, shop } = episode;
  for (let account = 0; account < shop.accounts.length; account += 1) {
    const listedDeposits: ListedDeposit[] = [];
    for (const decision of depositDecisions) {
      listedDeposits.push(...(await listDeposits(episode, account, decision)));
    }
    model.deposits.assertListed(account, listedDeposits);
    model.deposits.assertLists(account, listedDeposits, options);
  }
};

const listDeposits = async (
  episode: Episode,
  account: number,
  decision: string,
): Promise<readonly ListedDeposit[]> => {
  const listedDeposits: ListedDeposit[] = [];
  for (let offset: number | null = 0; offset !== null;) {
    const path = `/console/api/deposits?decision=${decision}&offset=${offset}`;
    const page = (await fetchJson(episode, path, getCookieHeader(episode.shop, account))) as {
      data: ListedDeposit[];
      nextOffset: number | null;
    };
    listedDeposits.push(...page.data);
    offset = page.nextOffset;
  }
  return listedDeposits;
};

const fetchJson = async (
  episode: Episode,
  path: string,
  headers: Record<string, string>,
): Promise<unknown> => {
  const { processes, world } = episode;
  const [replica] = listRunningReplicas(processes, "links-api");
  if (replica === undefined) throw new Finding("no links-api process is running");
  const responses: InjectedResponse[] = [];
  const request = { method: "GET", path, headers } as const;
  void callReplica(processes, replica, { isInternal: false, request }).then((injectedResponse) =>
    responses.push(injectedResponse),
  );
  await world.waitUntilIdle();
  while (responses.length === 0 && (await runNextStep(episode)));
  const [response] = responses;
  assertInvariant(response?.status === 200, () => `${path}: ${response?.status} ${response?.text}`);
  return JSON.parse(response.text);
};
