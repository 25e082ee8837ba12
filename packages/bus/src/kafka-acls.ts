import kafkajs, { type AclEntry } from "kafkajs";
import { getDeadLetterTopic } from "./dead-letters.ts";
import { type KafkaConnection, createKafkaClient } from "./kafka-client.ts";

const {
  AclOperationTypes: aclOperations,
  AclPermissionTypes: aclPermissions,
  AclResourceTypes: aclResources,
  ResourcePatternTypes: aclPatterns,
} = kafkajs;

/** The topics and the group that a service uses on a cluster, with their names on that cluster. */
export type KafkaUsage = {
  group: string;
  produces: readonly string[];
  consumes: readonly string[];
};

type GrantOptions = KafkaConnection & {
  /** The Kafka principal that receives the access, such as `User:links-api`. */
  principal: string;
  usage: KafkaUsage;
};

/**
 * Grants a service's Kafka user the access that the service needs:
 * - write access to the topics that it produces and to the dead-letter topics of those it consumes
 * - read access to the consumed topics and its group
 *
 * Idempotent. Earlier grants remain. Requires a connection with the right to alter the cluster, and
 * throws Kafka's error if that is denied.
 */
export const grantKafkaAccess = async ({
  principal,
  usage,
  ...connection
}: GrantOptions): Promise<void> => {
  const admin = createKafkaClient(connection).admin();
  await admin.connect();
  try {
    await admin.createAcls({
      acl: toAcls(usage).map((acl) => ({ ...aclDefaults, principal, ...acl })),
    });
  } finally {
    await admin.disconnect();
  }
};

const aclDefaults = {
  host: "*",
  permissionType: aclPermissions.ALLOW,
  resourcePatternType: aclPatterns.LITERAL,
};

type Acl = Pick<AclEntry, "resourceType" | "resourceName" | "operation">;

/** In Kafka, READ and WRITE imply DESCRIBE. */
const toAcls = ({ group, produces, consumes }: KafkaUsage): Acl[] => {
  const createTopicAcls = (names: readonly string[], operation: AclEntry["operation"]) =>
    names.map((resourceName) => ({ resourceType: aclResources.TOPIC, resourceName, operation }));
  const groupAcl = {
    resourceType: aclResources.GROUP,
    resourceName: group,
    operation: aclOperations.READ,
  };
  return [
    ...createTopicAcls([...produces, ...consumes.map(getDeadLetterTopic)], aclOperations.WRITE),
    ...createTopicAcls(consumes, aclOperations.READ),
    ...(consumes.length === 0 ? [] : [groupAcl]),
  ];
};
