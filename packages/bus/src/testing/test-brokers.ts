import { createHash } from "node:crypto";

/** Returns the Kafka brokers for the tests. */
export const getTestBrokers = (): string[] => {
  const brokers = process.env["KAFKA_BROKERS"];
  if (brokers === undefined) throw new Error("tests need KAFKA_BROKERS; run them with npm test");
  return brokers.split(",");
};

/**
 * Returns a user's password on these brokers. It is a hash, so that a test can search for it
 * without matching other text.
 */
export const getTestKafkaPassword = (user: string): string =>
  createHash("sha256").update(`the password of ${user}`).digest("hex");

/**
 * Returns a connection to the same brokers with authentication, for a service's user or its
 * successor; undefined for external brokers.
 */
export const getTestSaslConnection = (user: string) => {
  const brokers = process.env["KAFKA_SASL_BROKERS"];
  if (brokers === undefined) return undefined;
  const password = getTestKafkaPassword(user);
  const sasl = { mechanism: "plain" as const, username: user, password };
  return { brokers: brokers.split(","), sasl };
};
