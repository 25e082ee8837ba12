import { afterEach, beforeEach } from "@jest/globals";
import { useRig } from "@payment-links/runtime/testing/use-rig";
import { answer, openReceiver } from "./open-receiver.ts";
import { openRig } from "./open-rig.ts";

/**
 * What each test of a file finds anew: a rig, and somebody with one endpoint, at a receiver that takes
 * all it is sent. Their members are there once a test runs.
 */
export const withEndpoint = () => {
  const receiver = useRig(openReceiver);
  let opened: Awaited<ReturnType<typeof openEndpoint>> | undefined;
  beforeEach(async () => {
    receiver.received.length = 0;
    receiver.respondWith(answer(200));
    opened = await openEndpoint(receiver.origin);
  });
  afterEach(() => opened?.rig.close());
  const find = () => {
    if (opened === undefined) throw new Error("there is no endpoint before the tests run");
    return opened;
  };
  return {
    receiver,
    rig: late(() => find().rig),
    person: late(() => find().person),
    endpoint: late(() => find().endpoint),
  };
};

const openEndpoint = async (origin: string) => {
  const rig = await openRig({ environment: { WEBHOOK_HOST_OVERRIDES: `receiver.test=${origin}` } });
  const person = rig.signIn();
  return { rig, person, endpoint: await rig.register(person) };
};

/** Stands for what is there only once a test runs. */
const late = <Found extends object>(find: () => Found): Found =>
  new Proxy({} as Found, { get: (_, name) => Reflect.get(find(), name) });
