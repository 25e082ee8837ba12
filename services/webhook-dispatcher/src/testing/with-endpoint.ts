import { afterEach, beforeEach } from "@jest/globals";
import { useRig } from "@payment-links/runtime/testing/use-rig";
import { respondWithStatus, startReceiver } from "./start-receiver.ts";
import { createRig } from "./create-rig.ts";

/**
 * Sets up each test of a file with a new rig and a user with one endpoint, whose receiver accepts
 * everything. The members are available only while a test runs.
 */
export const withEndpoint = () => {
  const receiver = useRig(startReceiver);
  let setup: Awaited<ReturnType<typeof createEndpointSetup>> | undefined;
  beforeEach(async () => {
    receiver.received.length = 0;
    receiver.respondWith(respondWithStatus(200));
    setup = await createEndpointSetup(receiver.origin);
  });
  afterEach(() => setup?.rig.close());
  const getSetup = () => {
    if (setup === undefined) throw new Error("the endpoint exists only while a test runs");
    return setup;
  };
  return {
    receiver,
    rig: lazyProxy(() => getSetup().rig),
    person: lazyProxy(() => getSetup().person),
    endpoint: lazyProxy(() => getSetup().endpoint),
  };
};

const createEndpointSetup = async (origin: string) => {
  const rig = await createRig({
    environment: { WEBHOOK_HOST_OVERRIDES: `receiver.test=${origin}` },
  });
  const person = rig.signIn();
  return { rig, person, endpoint: await rig.register(person) };
};

/** Stands in for a value that exists only while a test runs. */
const lazyProxy = <Value extends object>(getValue: () => Value): Value =>
  new Proxy({} as Value, { get: (_, name) => Reflect.get(getValue(), name) });
