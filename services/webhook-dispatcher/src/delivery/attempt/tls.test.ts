import { expect, test } from "@jest/globals";
import { waitUntil } from "@payment-links/runtime/testing";
import { certificates } from "../../testing/certificates.ts";
import { startReceiver } from "../../testing/start-receiver.ts";
import { createRig } from "../../testing/create-rig.ts";

const { authority, key } = certificates;

/** Sends webhooks to an https receiver with the given certificate. Returns the newest log entry. */
const deliverTo = async (cert: string, eventCount = 1) => {
  const receiver = await startReceiver({ key, cert });
  const rig = await createRig({
    environment: { WEBHOOK_HOST_OVERRIDES: `receiver.test=${receiver.origin}` },
    outside: { overrideCa: authority },
  });
  await rig.service.start();
  const person = rig.signIn();
  const endpoint = await rig.register(person);
  const readEntries = () => rig.readLog(person, endpoint);
  for (let sentCount = 1; sentCount <= eventCount; sentCount += 1) {
    await rig.publishCompleted(person);
    await waitUntil("the attempt has ended", async () => {
      const entries = await readEntries();
      return (
        entries.length === sentCount &&
        entries.every(({ httpStatus, error }) => httpStatus !== null || error !== null)
      );
    });
  }
  const [entry] = await readEntries();
  const { received, connectionsCount } = receiver;
  await rig.close();
  await receiver.close();
  return { entry, received, connectionsCount: connectionsCount() };
};

test("an https receiver is verified under its own name, and its connection is reused", async () => {
  const { entry, received, connectionsCount } = await deliverTo(certificates.good, 3);
  expect(entry).toMatchObject({ status: "Delivered", httpStatus: 200 });
  expect(received.map(({ headers }) => headers.host)).toEqual(Array(3).fill("receiver.test"));
  expect(connectionsCount).toBe(1);
});

test.each([
  ["for another name", certificates.ofAnotherName, "TLS: certificate is for another name"],
  ["that has expired", certificates.expired, "TLS: certificate expired"],
  ["that is self-signed", certificates.selfSigned, "TLS: certificate not trusted"],
])("a certificate %s fails the attempt before anything is sent", async (_name, cert, error) => {
  const { entry, received } = await deliverTo(cert);
  expect(entry).toMatchObject({ status: "Pending", httpStatus: null, error });
  expect(received).toEqual([]);
});
