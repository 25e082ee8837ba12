import { createHash } from "node:crypto";

/** The brokers of Kafka that the tests speak to. */
export const getTestBrokers = (): string[] => {
  const brokers = process.env["KAFKA_BROKERS"];
  if (brokers === undefined) throw new Error("tests need KAFKA_BROKERS; run them by npm test");
  return brokers.split(",");
};

/** The password of a user of these brokers: none of its parts is in anything but a password. */
export const getTestKafkaPassword = (user: string): string =>
  createHash("sha256").update(`the password of ${user}`).digest("hex");

/**
 * The same brokers where they ask who calls, for a service's user or its successor; undefined where
 * the brokers are given and not ours.
 */
export const getTestSaslConnection = (user: string) => {
  const brokers = process.env["KAFKA_SASL_BROKERS"];
  if (brokers === undefined) return undefined;
  const password = getTestKafkaPassword(user);
  const sasl = { mechanism: "plain" as const, username: user, password };
  return { brokers: brokers.split(","), sasl };
};
