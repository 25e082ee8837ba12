import { readFileSync } from "node:fs";
import { type YAMLMap, isMap, isScalar, parseDocument } from "yaml";
import {
  type Schema,
  count,
  flag,
  group,
  like,
  list,
  manifest,
  number,
  oneOf,
  orNull,
  ref,
  say,
  some,
  text,
} from "./schema-forms.ts";

const name = "^([a-z0-9]([-a-z0-9]*[a-z0-9])?)?$";
const key = "^[-._a-zA-Z0-9]+$";
const path = "[a-z0-9]+([._/-][a-z0-9]+)*";
const tag = text("^([A-Za-z0-9_][A-Za-z0-9_.-]{0,127})?$", { not: { const: "latest" } });
const registry = text(String.raw`^([^/\s]+(/[^/\s]+)*)?$`);
const rate = String.raw`^\d{1,6}(\.\d{1,3})?:[1-9]\d{0,6}$`;
const webUrl = String.raw`^(https?://\S+)?$`;
const ipv4 = String.raw`\d{1,3}(?:\.\d{1,3}){3}`;
const ipv6 = "[0-9A-Fa-f]*:[0-9A-Fa-f:.]*";
const bits4 = String.raw`/(?:\d|[12]\d|3[0-2])`;
const bits6 = String.raw`/(?:\d{1,2}|1[01]\d|12[0-8])`;

const secret = like("secret");
const token = like("secret", { properties: { value: { pattern: "^(.{16,})?$" } } });
const strings = like("strings");
const peers = like("peers");
const place = like("place");

/** Where pods run, and what stands on them. */
const pods: Record<string, Schema> = {
  resources: like("resources"),
  podLabels: strings,
  podAnnotations: strings,
  podSecurityContext: like("podSecurityContext"),
  containerSecurityContext: like("containerSecurityContext"),
  nodeSelector: strings,
  tolerations: list(manifest()),
  affinity: manifest(),
  priorityClassName: text(),
  runtimeClassName: text(),
  schedulerName: text(),
  hostAliases: list(manifest("ip", "hostnames")),
  dnsConfig: manifest(),
  dnsPolicy: oneOf("", "ClusterFirst", "Default", "None"),
  hostUsers: flag,
};

/** What operators add to a pod of ours. */
const additions: Record<string, Schema> = {
  extraEnv: like("env"),
  extraEnvFrom: list(manifest()),
  extraVolumes: list(manifest("name")),
  extraVolumeMounts: list(manifest("name", "mountPath")),
  extraInitContainers: list(manifest("name", "image")),
  serviceAccount: group("The ServiceAccount.", { name: text(), annotations: strings }),
};

const id = orNull(count(0, 2_147_483_647));
const profile = orNull(
  some({
    type: oneOf("RuntimeDefault", "Localhost", "Unconfined"),
    localhostProfile: orNull(text()),
  }),
);

/** What a pod's and a container's security context have in common; null takes away what is common to all blocks. */
const security: Record<string, Schema> = {
  runAsNonRoot: orNull(flag),
  runAsUser: id,
  runAsGroup: id,
  seLinuxOptions: orNull(some({ user: text(), role: text(), type: text(), level: text() })),
  seccompProfile: profile,
  appArmorProfile: profile,
};

const keda: Record<string, Schema> = {
  enabled: say("Scale by what waits.", flag),
  minReplicas: say("Least pods.", count(1, 100)),
  maxReplicas: say("Most pods.", count(1, 100)),
  targetCpuPercent: say("Use of the requested CPU that is aimed at, in percent.", count(1, 1000)),
  lagSeconds: say("Seconds from an event to its application that are aimed at.", count(1, 86_400)),
  behavior: say("How fast.", manifest()),
};

const deployment = (about: string, own: Record<string, Schema>): Schema =>
  group(about, {
    replicas: count(0, 100),
    databaseConnectionsMax: count(1, 200),
    image: say("The image.", like("image")),
    autoscaling: say("Scale by CPU between two bounds.", like("autoscaling")),
    keda: group("Scale by what waits.", keda),
    maxUnavailable: like("maxUnavailable"),
    strategy: group("How an upgrade replaces pods.", {
      type: oneOf("RollingUpdate", "Recreate"),
      rollingUpdate: group("A few at a time.", {
        maxSurge: like("podsOrShare"),
        maxUnavailable: like("podsOrShare"),
      }),
    }),
    // Less than the 600 s after which Kubernetes calls an upgrade stuck, as it wants.
    minReadySeconds: count(0, 599),
    probes: group("How often and how patiently Kubernetes asks.", {
      startup: like("probe"),
      readiness: like("probe"),
      liveness: like("probe"),
    }),
    topologySpreadConstraints: list(like("spread")),
    ...pods,
    ...additions,
    extraContainers: list(manifest("name", "image")),
    service: group("The Service.", { annotations: strings, labels: strings }),
    extraEgress: list(manifest()),
    ...own,
  });

/** The values' forms. What a value is for stands in values.yaml, and is read from there. */
const values: Record<string, Schema> = {
  global: say("Helm's own, for charts that contain this one.", manifest()),
  nameOverride: text(name, { maxLength: 38 }),
  fullnameOverride: text(name, { maxLength: 38 }),
  commonLabels: strings,
  commonAnnotations: strings,
  baseUrl: text(String.raw`^(https?://[^/?#@\s]+)?$`),
  checkoutUrl: text(String.raw`^(https?://[^/?#@\s]+)?$`),
  allowInsecureCookie: flag,
  trustedProxies: list(text(`^(?:${ipv4}(?:${bits4})?|${ipv6}(?:${bits6})?)$`)),
  image: group("The images.", {
    registry,
    repository: text(`^${path}$`),
    tag,
    pullPolicy: oneOf("Always", "IfNotPresent", "Never"),
    pullSecrets: list(text(undefined, { minLength: 1 })),
  }),
  secrets: group("Where each secret is read from.", {
    existingSecret: text(),
    internalToken: token,
    operatorToken: token,
    linksApiOperatorToken: token,
    settlementListenerOperatorToken: token,
    webhookDispatcherOperatorToken: token,
    migrationDatabaseUrl: secret,
    linksApiDatabaseUrl: secret,
    authKeysDatabaseUrl: secret,
    settlementListenerDatabaseUrl: secret,
    webhookDispatcherDatabaseUrl: secret,
    redisUrl: secret,
    kafkaUsername: secret,
    kafkaPassword: secret,
    linksApiKafkaUsername: secret,
    linksApiKafkaPassword: secret,
    authKeysKafkaUsername: secret,
    authKeysKafkaPassword: secret,
    settlementListenerKafkaUsername: secret,
    settlementListenerKafkaPassword: secret,
    webhookDispatcherKafkaUsername: secret,
    webhookDispatcherKafkaPassword: secret,
    webhookSecretKeys: secret,
    settlementProviderSecrets: secret,
    evmRpcUrls: secret,
    oidcClientSecret: secret,
    signInRpcUrls: secret,
  }),
  kafka: group("The brokers.", {
    brokers: list(text(String.raw`^[^\s,:]+:\d{1,5}$`)),
    topicPrefix: text("^[a-z0-9._-]{0,40}$"),
    replicationFactor: count(1, 9),
    ssl: flag,
    sasl: group("How the brokers know us.", {
      mechanism: oneOf("", "plain", "scram-sha-256", "scram-sha-512"),
      perService: flag,
      grant: flag,
    }),
  }),
  trustedCertificates: group("Certificates that Node trusts beside its own.", {
    existingConfigMap: text(),
    key: text(key),
  }),
  rateLimit: group("Limits of callers.", {
    perKey: text(rate),
    perIp: text(rate),
    noticesPerIp: text(rate),
  }),
  connections: group("Limits of connections.", {
    max: count(1, 100_000),
    perIpMax: count(1, 100_000),
  }),
  catalogue: text(),
  transferChains: list(text(String.raw`^[1-9]\d*$`)),
  independentRpcHosts: list(text(String.raw`^[^\s,/:@]+$|^\[[0-9A-Fa-f:.]+\]$`)),
  logLevel: oneOf("fatal", "error", "warn", "info", "debug", "trace"),
  tracing: group("Traces.", { endpoint: text(webUrl), sampleRatio: number(0, 1) }),
  listenAddress: oneOf("0.0.0.0", "::"),
  ipFamilyPolicy: oneOf("", "SingleStack", "PreferDualStack", "RequireDualStack"),
  ipFamilies: list(oneOf("IPv4", "IPv6"), { uniqueItems: true }),
  drainDelaySeconds: number(0, 15),
  terminationGracePeriodSeconds: count(30, 3600),
  podSecurityContext: like("podSecurityContext"),
  containerSecurityContext: like("containerSecurityContext"),
  linksApi: deployment("The links-api.", { settlementChains: list(text("^[a-z0-9-]+$")) }),
  authKeys: deployment("The auth-keys.", {
    apiKeyMode: oneOf("", "live", "test"),
    oidc: group("Sign-in with OpenID Connect.", {
      issuer: text(String.raw`^(https://[^?#@\s]+)?$`),
      clientId: text(undefined, { maxLength: 255 }),
      scopes: text("(^| )openid( |$)"),
      allowedGroups: list(text("^[^,]+$")),
    }),
    leakedKeysPublicKeys: text(),
    contractWallets: flag,
    walletChangeDelay: count(0, 2_592_000),
    auditLogDays: { ...count(0, 36_500), not: count(1, 29) },
    signUp: oneOf("open", "closed", "oidc"),
    signInMethods: list(oneOf("link", "siwe", "oidc", "passkey"), { uniqueItems: true }),
  }),
  settlementListener: deployment("The settlement-listener.", {
    chains: group("EVM chains that are watched.", {
      enabled: flag,
      settings: text(),
      ports: list(ref("port"), { minItems: 1 }),
    }),
  }),
  webhookDispatcher: deployment("The webhook-dispatcher.", {
    keda: group("Scale by what waits.", {
      ...keda,
      overdueSeconds: say(
        "Seconds that the oldest due webhook has waited that are aimed at.",
        count(1, 86_400),
      ),
    }),
    concurrency: group(undefined, {
      total: say("In all.", count(1, 5000)),
      perEndpoint: say("To one endpoint.", count(1, 1000)),
      perAccount: say("Of one account.", count(1, 5000)),
      perOrigin: say("To one origin.", count(1, 5000)),
    }),
    retryScheduleSeconds: list(number(0, 2_592_000), { minItems: 1, maxItems: 6 }),
    timeoutSeconds: number(0.1, 60),
    headerPrefix: text("^[A-Za-z][A-Za-z0-9-]{0,63}$"),
    logDays: count(1, 3650),
  }),
  migrations: group("The Job that makes roles, schemas and topics.", {
    enabled: flag,
    useHelmHooks: flag,
    activeDeadlineSeconds: count(30, 86_400),
    backoffLimit: count(0, 20),
    ttlSecondsAfterFinished: orNull(count(0, 31_536_000)),
    annotations: strings,
    waitSeconds: count(0, 3600),
    extraObjects: list(manifest("apiVersion", "kind")),
    ...pods,
    ...additions,
    extraEgress: list(manifest()),
  }),
  quickstart: group("Postgres, Kafka and Redis, to try it.", {
    enabled: flag,
    storage: text("^([1-9][0-9]*([KMGTP]i?)?)?$"),
    pullPolicy: like("pullPolicy"),
    images: group("Images of somebody else.", {
      postgres: like("foreignImage"),
      kafka: like("foreignImage"),
      redis: like("foreignImage"),
      nginx: like("foreignImage"),
    }),
  }),
  test: group("The pod of `helm test`.", pods),
  ingress: group("A way in by an Ingress.", {
    enabled: flag,
    className: text(),
    annotations: strings,
    hosts: list(text("^[a-z0-9.*-]+$")),
    tls: list({
      type: "object",
      required: ["secretName"],
      additionalProperties: false,
      properties: {
        secretName: text(undefined, { minLength: 1 }),
        hosts: list(text("^[a-z0-9.*-]+$"), { minItems: 1 }),
      },
    }),
  }),
  httpRoute: group("A way in by the Gateway API.", {
    enabled: flag,
    annotations: strings,
    parentRefs: list(manifest("name")),
    hostnames: list(text("^[a-z0-9.*-]+$")),
    requestTimeout: text("^([0-9]{1,5}(h|m|s|ms))*$"),
  }),
  networkPolicy: group("What may reach what.", {
    enabled: flag,
    edgeFrom: peers,
    metricsFrom: peers,
    dnsTo: peers,
    dnsPorts: list(ref("port"), { minItems: 1 }),
    postgres: place,
    kafka: place,
    redis: place,
    tracing: place,
    webhookExcept: list(text(`^(?:${ipv4}(?:${bits4})|${ipv6}(?:${bits6}))$`)),
  }),
  keda: group("Where KEDA reads what waits.", {
    prometheus: group("The Prometheus.", {
      serverAddress: text(webUrl),
      authModes: text("^((basic|bearer|tls|custom)(,(basic|bearer|tls|custom))*)?$"),
      authenticationRef: group("What it needs for that.", {
        name: text(),
        kind: oneOf("TriggerAuthentication", "ClusterTriggerAuthentication"),
      }),
    }),
  }),
  metrics: group("What an SRE gets.", {
    serviceMonitor: group("Scraping by the Prometheus operator.", {
      enabled: flag,
      interval: text(String.raw`^\d+(ms|s|m|h)$`),
      scrapeTimeout: text(String.raw`^(\d+(ms|s|m|h))?$`),
      labels: strings,
      annotations: strings,
      relabelings: list(manifest()),
      metricRelabelings: list(manifest()),
    }),
    prometheusRule: group("Rules and alerts.", {
      enabled: flag,
      labels: strings,
      excludeRules: list(text(undefined, { minLength: 1 })),
      alertLabels: strings,
      runbookUrl: text(webUrl),
    }),
    dashboards: group("Grafana dashboards.", {
      enabled: flag,
      labels: strings,
      annotations: strings,
    }),
  }),
  extraObjects: list(manifest("apiVersion", "kind")),
};

const definitions: Record<string, Schema> = {
  secret: group(undefined, {
    existingSecret: say("Secret with this value; secrets.existingSecret if empty.", text()),
    key: say("Its key.", text(key)),
    value: say("The value itself; for trying out alone.", text()),
  }),
  strings: { type: "object", additionalProperties: text() },
  quantities: {
    type: "object",
    additionalProperties: {
      type: ["string", "number"],
      pattern: "^[0-9.]+([eE][-+]?[0-9]+|[numkMGTPE]|[KMGTPE]i)?$",
    },
  },
  resources: group(undefined, {
    requests: say("What is reserved.", like("quantities")),
    limits: say("What is never exceeded.", like("quantities")),
  }),
  port: count(1, 65_535),
  peers: list(manifest()),
  place: group(undefined, {
    to: say("Peers, as in a NetworkPolicy; empty means any address.", peers),
    ports: say("Its ports.", list(ref("port"), { minItems: 1 })),
  }),
  autoscaling: group(undefined, {
    enabled: say("Scale by CPU between the two bounds.", flag),
    minReplicas: say("Least pods.", count(1, 100)),
    maxReplicas: say("Most pods.", count(1, 100)),
    targetCpuPercent: say("Use of the requested CPU that is aimed at, in percent.", count(1, 1000)),
    behavior: say("How fast.", manifest()),
  }),
  probe: group(undefined, {
    periodSeconds: say("How often.", count(1, 300)),
    timeoutSeconds: say("How long an answer may take.", count(1, 60)),
    failureThreshold: say("After how many failures in a row.", count(1, 1000)),
  }),
  podSecurityContext: some({
    ...security,
    fsGroup: id,
    fsGroupChangePolicy: orNull(text("^(OnRootMismatch|Always)$")),
    supplementalGroups: orNull(list(count(0, 2_147_483_647))),
    supplementalGroupsPolicy: orNull(text("^(Merge|Strict)$")),
    seLinuxChangePolicy: orNull(text("^(MountOption|Recursive)$")),
    sysctls: orNull(list(manifest("name", "value"))),
  }),
  containerSecurityContext: some({
    ...security,
    privileged: orNull(flag),
    allowPrivilegeEscalation: orNull(flag),
    readOnlyRootFilesystem: orNull(flag),
    capabilities: orNull(some({ add: list(text()), drop: list(text()) })),
  }),
  spread: {
    ...manifest("topologyKey", "whenUnsatisfiable"),
    properties: {
      topologyKey: text(undefined, { minLength: 1 }),
      maxSkew: count(1, 100),
      whenUnsatisfiable: oneOf("DoNotSchedule", "ScheduleAnyway"),
    },
  },
  foreignImage: text(String.raw`^[a-z0-9][\w./:-]*(:[\w.-]+|@sha256:[0-9a-f]{64})$`, {
    not: { pattern: ":latest$" },
  }),
  image: group(undefined, {
    registry: say("Registry of this image; that of all if empty.", registry),
    repository: say("Path of this image in the registry.", text(`^(${path})?$`)),
    tag: say("Tag of this image; that of all if empty.", tag),
    digest: say(
      "Digest of this image (sha256:…), above any tag.",
      text("^(sha256:[0-9a-f]{64})?$"),
    ),
    pullPolicy: say("When nodes pull this image; as all if empty.", like("pullPolicy")),
  }),
  pullPolicy: oneOf("", "Always", "IfNotPresent", "Never"),
  env: list({
    type: "object",
    required: ["name"],
    additionalProperties: false,
    properties: {
      name: text("^[A-Za-z_][A-Za-z0-9_]*$"),
      value: text(),
      valueFrom: manifest(),
    },
  }),
  maxUnavailable: { anyOf: [{ type: "integer", minimum: 1 }, text("^[1-9][0-9]?%$")] },
  podsOrShare: { anyOf: [count(0, 100), text("^(0|[1-9][0-9]?|100)%$")] },
};

/** values.schema.json: the forms above, each with its description in values.yaml. */
export const valuesSchemaText = (valuesYaml: URL): string => {
  const { contents } = parseDocument(readFileSync(valuesYaml, "utf8"));
  if (!isMap(contents)) throw new Error("values.yaml holds no map");
  const schema = {
    $schema: "http://json-schema.org/draft-07/schema#",
    title: "Values of the chart payment-links",
    ...describe(group(undefined, values), readDescriptions(contents), ""),
    definitions,
  };
  return `${JSON.stringify(schema, undefined, 2)}\n`;
};

/** What stands after `# --` above each value, by the value's path. */
const readDescriptions = (map: YAMLMap, path = ""): Map<string, string> => {
  const found = new Map<string, string>();
  for (const [index, { key: name, value }] of map.items.entries()) {
    if (!isScalar(name)) continue;
    // The library attaches the comment above a map's first key to the map itself.
    const comment = (index === 0 ? map.commentBefore : undefined) ?? name.commentBefore ?? "";
    const at = `${path}.${String(name.value)}`;
    const said = /^ -- ([^]*)/.exec(comment)?.[1];
    if (said !== undefined) found.set(at, said.replaceAll(/\s+/g, " "));
    if (isMap(value)) for (const one of readDescriptions(value, at)) found.set(...one);
  }
  return found;
};

const describe = (schema: Schema, said: ReadonlyMap<string, string>, path: string): Schema => {
  // What the four Deployments have in common is described at the first one.
  const description =
    schema["description"] ?? said.get(path) ?? said.get(path.replace(/^\.\w+/, ".linksApi"));
  const { properties } = schema;
  return {
    ...(description === undefined ? {} : { description }),
    ...schema,
    ...(isSchemas(properties)
      ? {
          properties: Object.fromEntries(
            Object.entries(properties).map(([one, form]) => [
              one,
              describe(form, said, `${path}.${one}`),
            ]),
          ),
        }
      : {}),
  };
};

const isSchemas = (found: unknown): found is Record<string, Schema> =>
  typeof found === "object" && found !== null;
