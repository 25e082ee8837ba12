import type { Request, Response } from "express";
import { auditEvent, outgoing } from "@payment-links/bus";
import {
  type Account,
  type Actor,
  type CreateLinkBody,
  checkoutPageUrl,
  linkCreated,
  newId,
} from "@payment-links/contracts";
import { answerJson, personActor, readBytes, readJson } from "@payment-links/http";
import type { Caller } from "@payment-links/identity";
import { transact } from "@payment-links/postgres";
import type { Deps } from "../deps.ts";
import { readIdempotencyKey } from "../domain/idempotency.ts";
import { type Link, type ReadyAccount, linkState, openLink, readyAccount } from "../domain/link.ts";
import { insertLink } from "../store/links.ts";
import { answerOnce } from "./answer-once.ts";
import { createReferences } from "./payment-reference.ts";
import { type OpenedLink, type PreparedLink, needsOwnAddress, placeLink } from "./place-link.ts";

/**
 * POST /v1/payment-link and POST /console/api/payment-links: an order becomes a link that settles to
 * the owner's default wallet. Without an idempotency key, and off Bitcoin, that is one statement. What a person makes
 * stands in the audit log, what a key makes does not.
 */
export const createLink =
  (deps: Deps, by: "key" | "person") =>
  async (req: Request, res: Response, { account, credential }: Caller): Promise<void> => {
    const idempotencyKey = readIdempotencyKey(req.get("idempotency-key"));
    const bytes = await readBytes(req);
    const person = by === "person" ? personActor(req, credential) : undefined;
    const maker = { account, createdBy: credential.id, person };
    const prepare = () => prepareLink(deps, maker, readJson(req, bytes, deps.createBody));
    const { answer, isNew } =
      idempotencyKey === undefined
        ? await insertPrepared(deps, prepare())
        : await answerOnce(deps, { ownerId: account.id, key: idempotencyKey, bytes }, prepare);
    if (isNew) {
      deps.writtenAccounts.add(account);
      deps.counters.created();
      deps.wakeRelay();
    }
    answerJson(res, 200, answer);
  };

const insertPrepared = async (deps: Deps, prepared: PreparedLink) => {
  if (needsOwnAddress(prepared)) {
    const { answer } = await transact(deps.pool, (tx) => placeLink(tx, prepared));
    return { answer, isNew: true };
  }
  const opened = prepared.open(prepared.owner.wallet.walletAddress);
  await insertLink(deps.pool, opened);
  return { answer: opened.answer, isNew: true };
};

const drawReference = createReferences();

type Maker = { account: Account; createdBy: string; person: Actor | undefined };

const prepareLink = (deps: Deps, maker: Maker, order: CreateLinkBody): PreparedLink => {
  const owner = readyAccount(maker.account, deps.catalogue);
  const drawn = { id: newId("plink"), paymentReference: drawReference(), now: deps.clock.now() };
  const link = openLink(order, owner, drawn);
  return {
    owner,
    open: (destinationAddress) => writeLink(deps, maker, { ...link, destinationAddress }, owner),
  };
};

const writeLink = (
  deps: Deps,
  { account, createdBy, person }: Maker,
  link: Link,
  owner: ReadyAccount,
): OpenedLink => {
  const { id, createdAt: now } = link;
  const data = { link: linkState(link, now) };
  const { chainId, destinationAddress } = link;
  const detail = { toAmount: link.toAmount.toFixed(), chainId, destinationAddress };
  const deed = {
    at: now,
    accountId: account.id,
    action: "payment_link.created" as const,
    targetId: id,
    detail,
  };
  return {
    link,
    createdBy,
    deed: person && auditEvent({ ...person, ...deed }),
    event: outgoing(linkCreated, { key: id, occurredAt: now, data }),
    unwrittenOwner: deps.writtenAccounts.has(account) ? undefined : account,
    answer: { id, url: checkoutPageUrl(deps.checkoutUrl, owner.handle, id) },
  };
};
