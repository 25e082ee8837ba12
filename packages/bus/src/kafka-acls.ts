import kafkajs, { type AclEntry } from "kafkajs";
import { getDeadLetterTopic } from "./dead-letters.ts";
import { type KafkaConnection, createKafkaClient } from "./kafka-client.ts";

const {
  AclOperationTypes: aclOperations,
  AclPermissionTypes: aclPermissions,
  AclResourceTypes: aclResources,
  ResourcePatternTypes: aclPatterns,
} = kafkajs;

/** What a service does on a cluster, by the names that its topics and its group have there. */
export type KafkaUsage = {
  group: string;
  produces: readonly string[];
  consumes: readonly string[];
};

type GrantOptions = KafkaConnection & {
  /** Kafka's name of who gets it: `User:links-api`. */
  principal: string;
  usage: KafkaUsage;
};

/**
 * Grants a service's user on a cluster with an authorizer what the service does there: to write its
 * topics and the dead letters of those that it hears, to read these as its group. More often does no
 * harm; what was granted before stays. It needs a connection that may alter the cluster, and throws
 * what Kafka answers if that is refused.
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

/** Reading and writing include describing. */
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
