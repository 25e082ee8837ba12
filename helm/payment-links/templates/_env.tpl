{{/*
One variable from a Secret. The Secret is, in this order: the value's `existingSecret`; the Secret with the inline values
(its name is in `inline`), if there is an inline value; the common Secret. With `isOptional`, the key can be missing.
*/}}
{{- define "payment-links.secretEnv" -}}
{{- $secret := index .root.Values.secrets .secret -}}
{{- $name := $secret.existingSecret -}}
{{- if not $name -}}
{{- $name = ternary .inline (include "payment-links.commonSecret" .root) (ne $secret.value "") -}}
{{- end -}}
{{- if $name }}
- name: {{ .env }}
  valueFrom:
    secretKeyRef: { name: {{ $name }}, key: {{ $secret.key }}{{ if .isOptional }}, optional: true{{ end }} }
{{- end }}
{{- end -}}

{{/* The sender of emails. If it is set, links-api and webhook-dispatcher publish notifications, and auth-keys sends them. */}}
{{- define "payment-links.smtpFromEnv" -}}
{{- with .root.Values.email.from }}
- { name: SMTP_FROM, value: {{ . | quote }} }
{{- end }}
{{- end -}}

{{/*
The variables for Kafka, trusted certificates and logging. `kafkaUser` is the prefix of the secrets with the service's own
Kafka user. Without it, the common user is used.
*/}}
{{- define "payment-links.kafkaEnv" -}}
- { name: KAFKA_BROKERS, value: {{ include "payment-links.brokers" .root | fromJsonArray | join "," | quote }} }
{{- with .root.Values.kafka.topicPrefix }}
- { name: KAFKA_TOPIC_PREFIX, value: {{ . | quote }} }
{{- end }}
{{- if .root.Values.kafka.ssl }}
- { name: KAFKA_SSL, value: "1" }
{{- end }}
{{- with .root.Values.kafka.sasl.mechanism }}
- { name: KAFKA_SASL_MECHANISM, value: {{ . | quote }} }
{{- $user := $.kafkaUser | default "kafka" }}
{{- include "payment-links.secretEnv" (merge (dict "env" "KAFKA_SASL_USERNAME" "secret" (printf "%sUsername" $user)) $) }}
{{- include "payment-links.secretEnv" (merge (dict "env" "KAFKA_SASL_PASSWORD" "secret" (printf "%sPassword" $user)) $) }}
{{- end }}
{{- if .root.Values.trustedCertificates.existingConfigMap }}
- name: NODE_EXTRA_CA_CERTS
  value: /etc/payment-links/certificates/{{ .root.Values.trustedCertificates.key }}
{{- end }}
- { name: LOG_LEVEL, value: {{ .root.Values.logLevel | quote }} }
# The heap reaches its limit before the container does, so a leak causes an error message instead of a kill.
- { name: NODE_OPTIONS, value: "--max-old-space-size-percentage=75" }
{{- end -}}

{{/* The name of the secret with a service's operator token. The token of auth-keys can sign in to every account, so no other service gets it. */}}
{{- define "payment-links.operatorToken" -}}
{{- if eq .service "auth-keys" }}operatorToken{{ else }}{{ .key }}OperatorToken{{ end -}}
{{- end -}}

{{/* The variables that every service has. */}}
{{- define "payment-links.env" -}}
{{- $values := .root.Values -}}
{{- $full := include "payment-links.fullname" .root -}}
{{- $own := printf "%s-%s" $full .service -}}
- { name: HOST, value: {{ $values.listenAddress | quote }} }
- { name: PORT, value: "8080" }
- { name: INTERNAL_HOST, value: {{ $values.listenAddress | quote }} }
- { name: INTERNAL_PORT, value: "8081" }
- name: INTERNAL_HOSTNAMES
  value: {{ printf "%s,%s.%s,%s.%s.svc,%s.%s.svc.cluster.local" $own $own .root.Release.Namespace $own .root.Release.Namespace $own .root.Release.Namespace }}
{{- include "payment-links.secretEnv" (merge (dict "env" "INTERNAL_TOKEN" "secret" "internalToken") .) }}
{{- include "payment-links.secretEnv" (merge (dict "env" "OPERATOR_TOKEN" "secret" (include "payment-links.operatorToken" .)) .) }}
{{- if ne .service "auth-keys" }}
- { name: AUTH_KEYS_INTERNAL_URL, value: "http://{{ $full }}-auth-keys:8081" }
{{- end }}
{{- if eq .service "links-api" }}
- { name: SETTLEMENT_LISTENER_INTERNAL_URL, value: "http://{{ $full }}-settlement-listener:8081" }
{{- end }}
- { name: BASE_URL, value: {{ include "payment-links.baseUrl" .root | quote }} }
{{- if include "payment-links.isOnLoopback" .root }}
# Callers reach the pod only through a port-forward on their own machine.
- { name: PUBLISHED_ON_LOOPBACK, value: "1" }
{{- end }}
{{- with $values.checkoutUrl }}
- { name: CHECKOUT_URL, value: {{ . | quote }} }
{{- end }}
{{- if $values.allowInsecureCookie }}
- { name: ALLOW_INSECURE_COOKIE, value: "1" }
{{- end }}
{{- with $values.trustedProxies }}
- { name: TRUSTED_PROXIES, value: {{ join "," . | quote }} }
{{- end }}
{{- include "payment-links.secretEnv" (merge (dict "env" "DATABASE_URL" "secret" (printf "%sDatabaseUrl" .key)) .) }}
- { name: DATABASE_CONNECTIONS_MAX, value: {{ .values.databaseConnectionsMax | quote }} }
{{ include "payment-links.kafkaEnv" (ternary (merge (dict "kafkaUser" (printf "%sKafka" .key)) .) . $values.kafka.sasl.perService) }}
{{- include "payment-links.secretEnv" (merge (dict "env" "REDIS_URL" "secret" "redisUrl") .) }}
- { name: RATE_LIMIT_PER_KEY, value: {{ $values.rateLimit.perKey | quote }} }
- { name: RATE_LIMIT_PER_IP, value: {{ $values.rateLimit.perIp | quote }} }
- { name: CONNECTIONS_MAX, value: {{ $values.connections.max | quote }} }
- { name: CONNECTIONS_PER_IP_MAX, value: {{ $values.connections.perIpMax | quote }} }
# The number of pods that share a limit while Redis is unavailable.
- { name: RATE_LIMIT_REPLICAS, value: {{ include "payment-links.replicasMin" . | int | max 1 | quote }} }
- { name: DRAIN_DELAY_SECONDS, value: {{ $values.drainDelaySeconds | quote }} }
{{- if $values.catalogue }}
- { name: CATALOGUE_FILE, value: /etc/payment-links/settings/catalogue.json }
{{- end }}
{{- with $values.tracing.endpoint }}
- { name: OTEL_EXPORTER_OTLP_ENDPOINT, value: {{ . | quote }} }
- { name: OTEL_TRACES_SAMPLER, value: parentbased_traceidratio }
- { name: OTEL_TRACES_SAMPLER_ARG, value: {{ $values.tracing.sampleRatio | quote }} }
{{- end }}
{{- end -}}

{{/* The scaler of a service, `autoscaling` or `keda`. Empty if there is none or if `replicas` is 0, because a scaler would start the stopped service again. */}}
{{- define "payment-links.scaler" -}}
{{- if .values.replicas -}}
{{- if .values.keda.enabled }}keda{{ else if .values.autoscaling.enabled }}autoscaling{{ end -}}
{{- end -}}
{{- end -}}

{{/* The minimum number of pods of a service. At most 1 in a quickstart. */}}
{{- define "payment-links.replicasMin" -}}
{{- $scaler := include "payment-links.scaler" . -}}
{{- if $scaler -}}
{{- (index .values $scaler).minReplicas | int -}}
{{- else -}}
{{- ternary (min 1 .values.replicas) .values.replicas .root.Values.quickstart.enabled | int -}}
{{- end -}}
{{- end -}}
