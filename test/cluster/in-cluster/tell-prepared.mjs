// Prints one line of JSON with the existing Kafka topics and the privileges of links-api's database
// role.
import kafkajs from "kafkajs";
import pg from "pg";

// A default import, because Node cannot detect all named exports of this CommonJS module.
const { ConfigResourceTypes, Kafka, logLevel } = kafkajs;
const { KAFKA_BROKERS, KAFKA_TOPIC_PREFIX, DATABASE_URL } = process.env;

const readTopics = async () => {
  const kafka = new Kafka({ brokers: KAFKA_BROKERS.split(","), logLevel: logLevel.NOTHING });
  const admin = kafka.admin();
  await admin.connect();
  const names = (await admin.listTopics()).filter((name) => name.startsWith(KAFKA_TOPIC_PREFIX));
  const { topics } = await admin.fetchTopicMetadata({ topics: names });
  const { resources } = await admin.describeConfigs({
    includeSynonyms: false,
    resources: names.map((name) => ({
      type: ConfigResourceTypes.TOPIC,
      name,
      configNames: ["cleanup.policy"],
    })),
  });
  await admin.disconnect();
  return topics
    .map(({ name, partitions }) => {
      const config = resources.find((resource) => resource.resourceName === name);
      const policy = config.configEntries[0].configValue;
      return `${name.slice(KAFKA_TOPIC_PREFIX.length)}: ${partitions.length} ${policy}`;
    })
    .sort((a, b) => a.localeCompare(b));
};

const tryStatements = async (statements) => {
  const client = new pg.Client({ connectionString: DATABASE_URL });
  await client.connect();
  const codes = {};
  for (const statement of statements) {
    codes[statement] = await client.query(statement).then(
      () => "done",
      (error) => error.code,
    );
  }
  await client.end();
  return codes;
};

const statements = [
  "SELECT FROM links_api.links LIMIT 1",
  "SELECT FROM auth_keys.api_keys LIMIT 1",
  "SELECT FROM webhook_dispatcher.endpoints LIMIT 1",
  "SELECT FROM settlement_listener.payments LIMIT 1",
  "CREATE TABLE links_api.more ()",
  "CREATE TABLE public.more ()",
  "CREATE ROLE more",
];
console.log(
  JSON.stringify({ topics: await readTopics(), statements: await tryStatements(statements) }),
);
