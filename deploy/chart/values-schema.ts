import { readFileSync } from "node:fs";
import { type YAMLMap, isMap, isScalar, parseDocument } from "yaml";
import {
  type Schema,
  integerSchema,
  booleanSchema,
  objectSchema,
  extendRef,
  arraySchema,
  openObjectSchema,
  numberSchema,
  enumSchema,
  nullable,
  createRef,
  withDescription,
  optionalObjectSchema,
  stringSchema,
} from "./schema-builders.ts";

const namePattern = "^([a-z0-9]([-a-z0-9]*[a-z0-9])?)?$";
const keyPattern = "^[-._a-zA-Z0-9]+$";
const imagePathPattern = "[a-z0-9]+([._/-][a-z0-9]+)*";
const tagSchema = stringSchema("^([A-Za-z0-9_][A-Za-z0-9_.-]{0,127})?$", {
  not: { const: "latest" },
});
const registrySchema = stringSchema(String.raw`^([^/\s]+(/[^/\s]+)*)?$`);
const ratePattern = String.raw`^\d{1,6}(\.\d{1,3})?:[1-9]\d{0,6}$`;
const webUrlPattern = String.raw`^(https?://\S+)?$`;
const ipv4Pattern = String.raw`\d{1,3}(?:\.\d{1,3}){3}`;
const ipv6Pattern = "[0-9A-Fa-f]*:[0-9A-Fa-f:.]*";
const ipv4PrefixPattern = String.raw`/(?:\d|[12]\d|3[0-2])`;
const ipv6PrefixPattern = String.raw`/(?:\d{1,2}|1[01]\d|12[0-8])`;

const secretSchema = extendRef("secret");
const tokenSchema = extendRef("secret", { properties: { value: { pattern: "^(.{16,})?$" } } });
const stringsSchema = extendRef("strings");
const peersSchema = extendRef("peers");
const externalPlaceSchema = extendRef("place");

/** Pod settings: scheduling, resources, labels and security. */
const podProperties: Record<string, Schema> = {
  resources: extendRef("resources"),
  podLabels: stringsSchema,
  podAnnotations: stringsSchema,
  podSecurityContext: extendRef("podSecurityContext"),
  containerSecurityContext: extendRef("containerSecurityContext"),
  nodeSelector: stringsSchema,
  tolerations: arraySchema(openObjectSchema()),
  affinity: openObjectSchema(),
  priorityClassName: stringSchema(),
  runtimeClassName: stringSchema(),
  schedulerName: stringSchema(),
  hostAliases: arraySchema(openObjectSchema("ip", "hostnames")),
  dnsConfig: openObjectSchema(),
  dnsPolicy: enumSchema("", "ClusterFirst", "Default", "None"),
  hostUsers: booleanSchema,
};

/** Settings with which operators add to our pods. */
const extraPodProperties: Record<string, Schema> = {
  extraEnv: extendRef("env"),
  extraEnvFrom: arraySchema(openObjectSchema()),
  extraVolumes: arraySchema(openObjectSchema("name")),
  extraVolumeMounts: arraySchema(openObjectSchema("name", "mountPath")),
  extraInitContainers: arraySchema(openObjectSchema("name", "image")),
  serviceAccount: objectSchema("The ServiceAccount.", {
    name: stringSchema(),
    annotations: stringsSchema,
  }),
};

const userIdSchema = nullable(integerSchema(0, 2_147_483_647));
const profileSchema = nullable(
  optionalObjectSchema({
    type: enumSchema("RuntimeDefault", "Localhost", "Unconfined"),
    localhostProfile: nullable(stringSchema()),
  }),
);

/**
 * The fields that pod and container security contexts have in common. Null removes a field that the
 * common security context sets.
 */
const securityProperties: Record<string, Schema> = {
  runAsNonRoot: nullable(booleanSchema),
  runAsUser: userIdSchema,
  runAsGroup: userIdSchema,
  seLinuxOptions: nullable(
    optionalObjectSchema({
      user: stringSchema(),
      role: stringSchema(),
      type: stringSchema(),
      level: stringSchema(),
    }),
  ),
  seccompProfile: profileSchema,
  appArmorProfile: profileSchema,
};

const kedaProperties: Record<string, Schema> = {
  enabled: withDescription("Scale on CPU and backlog.", booleanSchema),
  minReplicas: withDescription("Minimum number of pods.", integerSchema(1, 100)),
  maxReplicas: withDescription("Maximum number of pods.", integerSchema(1, 100)),
  targetCpuPercent: withDescription(
    "Target CPU utilization, in percent of the CPU request.",
    integerSchema(1, 1000),
  ),
  lagSeconds: withDescription(
    "Target delay in seconds until an event is applied.",
    integerSchema(1, 86_400),
  ),
  behavior: withDescription("`behavior` of the HorizontalPodAutoscaler.", openObjectSchema()),
};

const createDeploymentSchema = (
  description: string,
  ownProperties: Record<string, Schema>,
): Schema =>
  objectSchema(description, {
    replicas: integerSchema(0, 100),
    databaseConnectionsMax: integerSchema(1, 200),
    image: withDescription("Image of this service.", extendRef("image")),
    autoscaling: withDescription("Scaling on CPU.", extendRef("autoscaling")),
    keda: objectSchema("Scaling on CPU and backlog (KEDA).", kedaProperties),
    maxUnavailable: extendRef("maxUnavailable"),
    strategy: objectSchema("How an upgrade replaces pods.", {
      type: enumSchema("RollingUpdate", "Recreate"),
      rollingUpdate: objectSchema("Limits of a rolling update.", {
        maxSurge: extendRef("podsOrShare"),
        maxUnavailable: extendRef("podsOrShare"),
      }),
    }),
    // Must be less than the 600 s after which Kubernetes reports a rollout as stuck.
    minReadySeconds: integerSchema(0, 599),
    probes: objectSchema("Timing of the probes.", {
      startup: extendRef("probe"),
      readiness: extendRef("probe"),
      liveness: extendRef("probe"),
    }),
    topologySpreadConstraints: arraySchema(extendRef("spread")),
    ...podProperties,
    ...extraPodProperties,
    extraContainers: arraySchema(openObjectSchema("name", "image")),
    service: objectSchema("The Service.", { annotations: stringsSchema, labels: stringsSchema }),
    extraEgress: arraySchema(openObjectSchema()),
    ...ownProperties,
  });

/** The schemas of the values. The descriptions come from values.yaml. */
const valueSchemas: Record<string, Schema> = {
  global: withDescription("Global values of a parent chart.", openObjectSchema()),
  nameOverride: stringSchema(namePattern, { maxLength: 38 }),
  fullnameOverride: stringSchema(namePattern, { maxLength: 38 }),
  commonLabels: stringsSchema,
  commonAnnotations: stringsSchema,
  baseUrl: stringSchema(String.raw`^(https?://[^/?#@\s]+)?$`),
  checkoutUrl: stringSchema(String.raw`^(https?://[^/?#@\s]+)?$`),
  allowInsecureCookie: booleanSchema,
  trustedProxies: arraySchema(
    stringSchema(
      `^(?:${ipv4Pattern}(?:${ipv4PrefixPattern})?|${ipv6Pattern}(?:${ipv6PrefixPattern})?)$`,
    ),
  ),
  image: objectSchema("Images of the services.", {
    registry: registrySchema,
    repository: stringSchema(`^${imagePathPattern}$`),
    tag: tagSchema,
    pullPolicy: enumSchema("Always", "IfNotPresent", "Never"),
    pullSecrets: arraySchema(stringSchema(undefined, { minLength: 1 })),
  }),
  secrets: objectSchema("Sources of the secrets.", {
    existingSecret: stringSchema(),
    internalToken: tokenSchema,
    operatorToken: tokenSchema,
    linksApiOperatorToken: tokenSchema,
    settlementListenerOperatorToken: tokenSchema,
    webhookDispatcherOperatorToken: tokenSchema,
    migrationDatabaseUrl: secretSchema,
    linksApiDatabaseUrl: secretSchema,
    authKeysDatabaseUrl: secretSchema,
    settlementListenerDatabaseUrl: secretSchema,
    webhookDispatcherDatabaseUrl: secretSchema,
    redisUrl: secretSchema,
    kafkaUsername: secretSchema,
    kafkaPassword: secretSchema,
    linksApiKafkaUsername: secretSchema,
    linksApiKafkaPassword: secretSchema,
    authKeysKafkaUsername: secretSchema,
    authKeysKafkaPassword: secretSchema,
    settlementListenerKafkaUsername: secretSchema,
    settlementListenerKafkaPassword: secretSchema,
    webhookDispatcherKafkaUsername: secretSchema,
    webhookDispatcherKafkaPassword: secretSchema,
    webhookSecretKeys: secretSchema,
    settlementProviderSecrets: secretSchema,
    evmRpcUrls: secretSchema,
    oidcClientSecret: secretSchema,
    signInRpcUrls: secretSchema,
    smtpUrl: secretSchema,
  }),
  kafka: objectSchema("Kafka.", {
    brokers: arraySchema(stringSchema(String.raw`^[^\s,:]+:\d{1,5}$`)),
    topicPrefix: stringSchema("^[a-z0-9._-]{0,40}$"),
    replicationFactor: integerSchema(1, 9),
    ssl: booleanSchema,
    sasl: objectSchema("SASL authentication.", {
      mechanism: enumSchema("", "plain", "scram-sha-256", "scram-sha-512"),
      perService: booleanSchema,
      grant: booleanSchema,
    }),
  }),
  email: objectSchema("Email notifications to owners, and receipts by email to payers.", {
    from: stringSchema(undefined, { maxLength: 400 }),
    ports: arraySchema(createRef("port"), { minItems: 1 }),
  }),
  trustedCertificates: objectSchema("Additional certificates that Node trusts.", {
    existingConfigMap: stringSchema(),
    key: stringSchema(keyPattern),
  }),
  rateLimit: objectSchema("Rate limits.", {
    perKey: stringSchema(ratePattern),
    perIp: stringSchema(ratePattern),
    noticesPerIp: stringSchema(ratePattern),
  }),
  connections: objectSchema("Connection limits.", {
    max: integerSchema(1, 100_000),
    perIpMax: integerSchema(1, 100_000),
  }),
  catalogue: stringSchema(),
  transferChains: arraySchema(stringSchema(String.raw`^[1-9]\d*$`)),
  independentRpcHosts: arraySchema(stringSchema(String.raw`^[^\s,/:@]+$|^\[[0-9A-Fa-f:.]+\]$`)),
  logLevel: enumSchema("fatal", "error", "warn", "info", "debug", "trace"),
  tracing: objectSchema("Tracing.", {
    endpoint: stringSchema(webUrlPattern),
    sampleRatio: numberSchema(0, 1),
  }),
  listenAddress: enumSchema("0.0.0.0", "::"),
  ipFamilyPolicy: enumSchema("", "SingleStack", "PreferDualStack", "RequireDualStack"),
  ipFamilies: arraySchema(enumSchema("IPv4", "IPv6"), { uniqueItems: true }),
  drainDelaySeconds: numberSchema(0, 15),
  terminationGracePeriodSeconds: integerSchema(30, 3600),
  podSecurityContext: extendRef("podSecurityContext"),
  containerSecurityContext: extendRef("containerSecurityContext"),
  linksApi: createDeploymentSchema("links-api.", {
    settlementChains: arraySchema(stringSchema("^[a-z0-9-]+$")),
  }),
  authKeys: createDeploymentSchema("auth-keys.", {
    oidc: objectSchema("Sign-in with OpenID Connect.", {
      issuer: stringSchema(String.raw`^(https://[^?#@\s]+)?$`),
      clientId: stringSchema(undefined, { maxLength: 255 }),
      scopes: stringSchema("(^| )openid( |$)"),
      allowedGroups: arraySchema(stringSchema("^[^,]+$")),
    }),
    leakedKeysPublicKeys: stringSchema(),
    contractWallets: booleanSchema,
    walletChangeDelay: integerSchema(0, 2_592_000),
    auditLogDays: { ...integerSchema(0, 36_500), not: integerSchema(1, 29) },
    signUp: enumSchema("open", "closed", "oidc"),
    signInMethods: arraySchema(enumSchema("link", "siwe", "oidc", "passkey"), {
      uniqueItems: true,
    }),
  }),
  settlementListener: createDeploymentSchema("settlement-listener.", {
    chains: objectSchema("Watched chains.", {
      enabled: booleanSchema,
      settings: stringSchema(),
      ports: arraySchema(createRef("port"), { minItems: 1 }),
    }),
  }),
  webhookDispatcher: createDeploymentSchema("webhook-dispatcher.", {
    keda: objectSchema("Scaling on CPU and backlog (KEDA).", {
      ...kedaProperties,
      overdueSeconds: withDescription(
        "Target age of the oldest due webhook, in seconds.",
        integerSchema(1, 86_400),
      ),
    }),
    concurrency: objectSchema(undefined, {
      total: withDescription("In total.", integerSchema(1, 5000)),
      perEndpoint: withDescription("Per endpoint.", integerSchema(1, 1000)),
      perAccount: withDescription("Per account.", integerSchema(1, 5000)),
      perOrigin: withDescription("Per origin.", integerSchema(1, 5000)),
    }),
    retryScheduleSeconds: arraySchema(numberSchema(0, 2_592_000), { minItems: 1, maxItems: 6 }),
    timeoutSeconds: numberSchema(0.1, 60),
    headerPrefix: stringSchema("^[A-Za-z][A-Za-z0-9-]{0,63}$"),
    logDays: integerSchema(1, 3650),
  }),
  migrations: objectSchema("The Job that creates roles, schemas and topics.", {
    enabled: booleanSchema,
    useHelmHooks: booleanSchema,
    activeDeadlineSeconds: integerSchema(30, 86_400),
    backoffLimit: integerSchema(0, 20),
    ttlSecondsAfterFinished: nullable(integerSchema(0, 31_536_000)),
    annotations: stringsSchema,
    waitSeconds: integerSchema(0, 3600),
    extraObjects: arraySchema(openObjectSchema("apiVersion", "kind")),
    ...podProperties,
    ...extraPodProperties,
    extraEgress: arraySchema(openObjectSchema()),
  }),
  quickstart: objectSchema("Postgres, Kafka and Redis for a trial.", {
    enabled: booleanSchema,
    storage: stringSchema("^([1-9][0-9]*([KMGTP]i?)?)?$"),
    pullPolicy: extendRef("pullPolicy"),
    images: objectSchema("Third-party images.", {
      postgres: extendRef("foreignImage"),
      kafka: extendRef("foreignImage"),
      redis: extendRef("foreignImage"),
      nginx: extendRef("foreignImage"),
    }),
  }),
  test: objectSchema("The pod of `helm test`.", podProperties),
  ingress: objectSchema("Ingress.", {
    enabled: booleanSchema,
    className: stringSchema(),
    annotations: stringsSchema,
    hosts: arraySchema(stringSchema("^[a-z0-9.*-]+$")),
    tls: arraySchema({
      type: "object",
      required: ["secretName"],
      additionalProperties: false,
      properties: {
        secretName: stringSchema(undefined, { minLength: 1 }),
        hosts: arraySchema(stringSchema("^[a-z0-9.*-]+$"), { minItems: 1 }),
      },
    }),
  }),
  httpRoute: objectSchema("HTTPRoute of the Gateway API.", {
    enabled: booleanSchema,
    annotations: stringsSchema,
    parentRefs: arraySchema(openObjectSchema("name")),
    hostnames: arraySchema(stringSchema("^[a-z0-9.*-]+$")),
    requestTimeout: stringSchema("^([0-9]{1,5}(h|m|s|ms))*$"),
  }),
  networkPolicy: objectSchema("NetworkPolicies.", {
    enabled: booleanSchema,
    edgeFrom: peersSchema,
    metricsFrom: peersSchema,
    dnsTo: peersSchema,
    dnsPorts: arraySchema(createRef("port"), { minItems: 1 }),
    postgres: externalPlaceSchema,
    kafka: externalPlaceSchema,
    redis: externalPlaceSchema,
    tracing: externalPlaceSchema,
    webhookExcept: arraySchema(
      stringSchema(
        `^(?:${ipv4Pattern}(?:${ipv4PrefixPattern})|${ipv6Pattern}(?:${ipv6PrefixPattern}))$`,
      ),
    ),
  }),
  keda: objectSchema("The Prometheus that KEDA queries for the backlog.", {
    prometheus: objectSchema("The Prometheus.", {
      serverAddress: stringSchema(webUrlPattern),
      authModes: stringSchema("^((basic|bearer|tls|custom)(,(basic|bearer|tls|custom))*)?$"),
      authenticationRef: objectSchema("Credentials for Prometheus.", {
        name: stringSchema(),
        kind: enumSchema("TriggerAuthentication", "ClusterTriggerAuthentication"),
      }),
    }),
  }),
  metrics: objectSchema("Monitoring.", {
    serviceMonitor: objectSchema("ServiceMonitor of the Prometheus operator.", {
      enabled: booleanSchema,
      interval: stringSchema(String.raw`^\d+(ms|s|m|h)$`),
      scrapeTimeout: stringSchema(String.raw`^(\d+(ms|s|m|h))?$`),
      labels: stringsSchema,
      annotations: stringsSchema,
      relabelings: arraySchema(openObjectSchema()),
      metricRelabelings: arraySchema(openObjectSchema()),
    }),
    prometheusRule: objectSchema("Recording rules and alerts.", {
      enabled: booleanSchema,
      labels: stringsSchema,
      excludeRules: arraySchema(stringSchema(undefined, { minLength: 1 })),
      alertLabels: stringsSchema,
      runbookUrl: stringSchema(webUrlPattern),
    }),
    dashboards: objectSchema("Grafana dashboards.", {
      enabled: booleanSchema,
      labels: stringsSchema,
      annotations: stringsSchema,
    }),
  }),
  extraObjects: arraySchema(openObjectSchema("apiVersion", "kind")),
};

const definitions: Record<string, Schema> = {
  secret: objectSchema(undefined, {
    existingSecret: withDescription(
      "Secret with this value; `secrets.existingSecret` if empty.",
      stringSchema(),
    ),
    key: withDescription("Key in the Secret.", stringSchema(keyPattern)),
    value: withDescription("The value itself; only for trials.", stringSchema()),
  }),
  strings: { type: "object", additionalProperties: stringSchema() },
  quantities: {
    type: "object",
    additionalProperties: {
      type: ["string", "number"],
      pattern: "^[0-9.]+([eE][-+]?[0-9]+|[numkMGTPE]|[KMGTPE]i)?$",
    },
  },
  resources: objectSchema(undefined, {
    requests: withDescription("Requests.", extendRef("quantities")),
    limits: withDescription("Limits.", extendRef("quantities")),
  }),
  port: integerSchema(1, 65_535),
  peers: arraySchema(openObjectSchema()),
  place: objectSchema(undefined, {
    to: withDescription("Peers, as in a NetworkPolicy; any address if empty.", peersSchema),
    ports: withDescription("Ports.", arraySchema(createRef("port"), { minItems: 1 })),
  }),
  autoscaling: objectSchema(undefined, {
    enabled: withDescription("Scale on CPU between the bounds.", booleanSchema),
    minReplicas: withDescription("Minimum number of pods.", integerSchema(1, 100)),
    maxReplicas: withDescription("Maximum number of pods.", integerSchema(1, 100)),
    targetCpuPercent: withDescription(
      "Target CPU utilization, in percent of the CPU request.",
      integerSchema(1, 1000),
    ),
    behavior: withDescription("`behavior` of the HorizontalPodAutoscaler.", openObjectSchema()),
  }),
  probe: objectSchema(undefined, {
    periodSeconds: withDescription("Seconds between attempts.", integerSchema(1, 300)),
    timeoutSeconds: withDescription("Seconds until an attempt fails.", integerSchema(1, 60)),
    failureThreshold: withDescription("Number of failures in a row.", integerSchema(1, 1000)),
  }),
  podSecurityContext: optionalObjectSchema({
    ...securityProperties,
    fsGroup: userIdSchema,
    fsGroupChangePolicy: nullable(stringSchema("^(OnRootMismatch|Always)$")),
    supplementalGroups: nullable(arraySchema(integerSchema(0, 2_147_483_647))),
    supplementalGroupsPolicy: nullable(stringSchema("^(Merge|Strict)$")),
    seLinuxChangePolicy: nullable(stringSchema("^(MountOption|Recursive)$")),
    sysctls: nullable(arraySchema(openObjectSchema("name", "value"))),
  }),
  containerSecurityContext: optionalObjectSchema({
    ...securityProperties,
    privileged: nullable(booleanSchema),
    allowPrivilegeEscalation: nullable(booleanSchema),
    readOnlyRootFilesystem: nullable(booleanSchema),
    capabilities: nullable(
      optionalObjectSchema({ add: arraySchema(stringSchema()), drop: arraySchema(stringSchema()) }),
    ),
  }),
  spread: {
    ...openObjectSchema("topologyKey", "whenUnsatisfiable"),
    properties: {
      topologyKey: stringSchema(undefined, { minLength: 1 }),
      maxSkew: integerSchema(1, 100),
      whenUnsatisfiable: enumSchema("DoNotSchedule", "ScheduleAnyway"),
    },
  },
  foreignImage: stringSchema(String.raw`^[a-z0-9][\w./:-]*(:[\w.-]+|@sha256:[0-9a-f]{64})$`, {
    not: { pattern: ":latest$" },
  }),
  image: objectSchema(undefined, {
    registry: withDescription("Registry of this image; `image.registry` if empty.", registrySchema),
    repository: withDescription(
      "Path of this image in the registry.",
      stringSchema(`^(${imagePathPattern})?$`),
    ),
    tag: withDescription("Tag of this image; `image.tag` if empty.", tagSchema),
    digest: withDescription(
      "Digest of this image (`sha256:…`); overrides any tag.",
      stringSchema("^(sha256:[0-9a-f]{64})?$"),
    ),
    pullPolicy: withDescription(
      "Pull policy of this image; `image.pullPolicy` if empty.",
      extendRef("pullPolicy"),
    ),
  }),
  pullPolicy: enumSchema("", "Always", "IfNotPresent", "Never"),
  env: arraySchema({
    type: "object",
    required: ["name"],
    additionalProperties: false,
    properties: {
      name: stringSchema("^[A-Za-z_][A-Za-z0-9_]*$"),
      value: stringSchema(),
      valueFrom: openObjectSchema(),
    },
  }),
  maxUnavailable: { anyOf: [{ type: "integer", minimum: 1 }, stringSchema("^[1-9][0-9]?%$")] },
  podsOrShare: { anyOf: [integerSchema(0, 100), stringSchema("^(0|[1-9][0-9]?|100)%$")] },
};

/** Renders values.schema.json: the schemas above, each with its description from values.yaml. */
export const renderValuesSchema = (valuesYaml: URL): string => {
  const { contents } = parseDocument(readFileSync(valuesYaml, "utf8"));
  if (!isMap(contents)) throw new Error("values.yaml is not a map");
  const schema = {
    $schema: "http://json-schema.org/draft-07/schema#",
    title: "Values of the chart payment-links",
    ...addDescriptions(objectSchema(undefined, valueSchemas), readDescriptions(contents), ""),
    definitions,
  };
  return `${JSON.stringify(schema, undefined, 2)}\n`;
};

/** Returns the text after `# --` above each value, by the value's path. */
const readDescriptions = (map: YAMLMap, parentPath = ""): Map<string, string> => {
  const descriptions = new Map<string, string>();
  for (const [index, { key: keyNode, value }] of map.items.entries()) {
    if (!isScalar(keyNode)) continue;
    // The `yaml` package attaches the comment above a map's first key to the map itself.
    const comment = (index === 0 ? map.commentBefore : undefined) ?? keyNode.commentBefore ?? "";
    const valuePath = `${parentPath}.${String(keyNode.value)}`;
    const descriptionText = /^ -- ([^]*)/.exec(comment)?.[1];
    if (descriptionText !== undefined)
      descriptions.set(valuePath, descriptionText.replaceAll(/\s+/g, " "));
    if (isMap(value))
      for (const entry of readDescriptions(value, valuePath)) descriptions.set(...entry);
  }
  return descriptions;
};

const addDescriptions = (
  schema: Schema,
  descriptionsByPath: ReadonlyMap<string, string>,
  valuePath: string,
): Schema => {
  // values.yaml describes the settings that all services share only for links-api.
  const description =
    schema["description"] ??
    descriptionsByPath.get(valuePath) ??
    descriptionsByPath.get(valuePath.replace(/^\.\w+/, ".linksApi"));
  const { properties } = schema;
  return {
    ...(description === undefined ? {} : { description }),
    ...schema,
    ...(isSchemaRecord(properties)
      ? {
          properties: Object.fromEntries(
            Object.entries(properties).map(([property, propertySchema]) => [
              property,
              addDescriptions(propertySchema, descriptionsByPath, `${valuePath}.${property}`),
            ]),
          ),
        }
      : {}),
  };
};

const isSchemaRecord = (value: unknown): value is Record<string, Schema> =>
  typeof value === "object" && value !== null;
