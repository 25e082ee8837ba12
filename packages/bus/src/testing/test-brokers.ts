/** The brokers of Kafka that the tests speak to. */
export const testBrokers = (): string[] => {
  const brokers = process.env["KAFKA_BROKERS"];
  if (brokers === undefined) throw new Error("tests need KAFKA_BROKERS; run them by npm test");
  return brokers.split(",");
};
