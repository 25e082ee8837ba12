import kafkajs, { type AclEntry } from "kafkajs";
import { deadLetterTopic } from "./dead-letters.ts";
import { type KafkaConnection, openKafka } from "./kafka-client.ts";

const {
  AclOperationTypes: operations,
  AclPermissionTypes: permissions,
  AclResourceTypes: resources,
  ResourcePatternTypes: patterns,
} = kafkajs;

/** What a service does on a cluster, by the names that its topics and its group have there. */
export type KafkaUse = { group: string; writes: readonly string[]; hears: readonly string[] };

type GrantOptions = KafkaConnection & {
  /** Kafka's name of who gets it: `User:links-api`. */
  principal: string;
  use: KafkaUse;
};

/**
 * Grants a service's user on a cluster with an authorizer what the service does there: to write its
 * topics and the dead letters of those that it hears, to read these as its group. More often does no
 * harm; what was granted before stays. It needs a connection that may alter the cluster, and throws
 * what Kafka answers if that is refused.
 */
export const grantKafkaUse = async ({ principal, use, ...rest }: GrantOptions): Promise<void> => {
  const admin = openKafka(rest).admin();
  await admin.connect();
  try {
    await admin.createAcls({
      acl: aclsOf(use).map((acl) => ({ ...everywhere, principal, ...acl })),
    });
  } finally {
    await admin.disconnect();
  }
};

const everywhere = {
  host: "*",
  permissionType: permissions.ALLOW,
  resourcePatternType: patterns.LITERAL,
};

type Acl = Pick<AclEntry, "resourceType" | "resourceName" | "operation">;

/** Reading and writing include describing. */
const aclsOf = ({ group, writes, hears }: KafkaUse): Acl[] => {
  const onTopics = (names: readonly string[], operation: AclEntry["operation"]) =>
    names.map((resourceName) => ({ resourceType: resources.TOPIC, resourceName, operation }));
  const asGroup = {
    resourceType: resources.GROUP,
    resourceName: group,
    operation: operations.READ,
  };
  return [
    ...onTopics([...writes, ...hears.map(deadLetterTopic)], operations.WRITE),
    ...onTopics(hears, operations.READ),
    ...(hears.length === 0 ? [] : [asGroup]),
  ];
};
