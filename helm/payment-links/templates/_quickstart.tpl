{{/*
The values that the quickstart uses instead of the operator's. It creates the servers and secrets that a production release
gets from the operator.
*/}}
{{- define "payment-links.baseUrl" -}}
{{- .Values.baseUrl | default (ternary "http://localhost:8080" "" .Values.quickstart.enabled) -}}
{{- end -}}

{{- define "payment-links.brokers" -}}
{{- $own := list (printf "%s-kafka:9092" (include "payment-links.fullname" .)) -}}
{{- ternary $own .Values.kafka.brokers .Values.quickstart.enabled | toJson -}}
{{- end -}}

{{- define "payment-links.commonSecret" -}}
{{- ternary (printf "%s-quickstart" (include "payment-links.fullname" .)) .Values.secrets.existingSecret .Values.quickstart.enabled -}}
{{- end -}}

{{/* Whether the migrations Job is a hook. Not in a quickstart, because a hook would run before its servers are created. */}}
{{- define "payment-links.usesHooks" -}}
{{- if and .Values.migrations.enabled .Values.migrations.useHelmHooks (not .Values.quickstart.enabled) }}yes{{ end -}}
{{- end -}}

{{/* The secrets of the quickstart: generated at the install and reused by every upgrade. */}}
{{- define "payment-links.quickstartSecrets" -}}
{{- $full := include "payment-links.fullname" . -}}
{{- $kept := default dict (lookup "v1" "Secret" .Release.Namespace (printf "%s-quickstart" $full)).data -}}
{{- $drawn := dict "webhook-secret-keys" (printf "quickstart=%s" (randBytes 32)) "settlement-provider-secrets" (printf "quickstart=whsec_%s" (randBytes 24)) -}}
{{- range $key := list "internal-token" "operator-token" "postgres-password" }}{{ $_ := set $drawn $key (randAlphaNum 32) }}{{ end -}}
{{- $address := printf "%s-postgres:5432/payment_links" $full -}}
{{- $password := get $kept "postgres-password" | b64dec | default (get $drawn "postgres-password") -}}
{{- $_ := set $drawn "migration-database-url" (printf "postgres://postgres:%s@%s" $password $address) -}}
{{- range $service, $_ := include "payment-links.services" . | fromYaml -}}
{{- if ne $service "auth-keys" }}{{ $_ := set $drawn (printf "%s-operator-token" $service) (randAlphaNum 32) }}{{ end -}}
{{- $_ := set $drawn (printf "%s-database-url" $service) (printf "postgres://%s:%s@%s" (snakecase $service) (randAlphaNum 32) $address) -}}
{{- end -}}
{{- $_ := set $drawn "redis-url" (printf "redis://%s-redis:6379" $full) -}}
{{- range $key, $value := $drawn }}
{{ $key }}: {{ get $kept $key | default (b64enc $value) }}
{{- end }}
{{- end -}}

{{- define "payment-links.quickstartPostgres" -}}
port: 5432
# The user of the Postgres image.
user: 999
env:
  - { name: POSTGRES_DB, value: payment_links }
  - name: POSTGRES_PASSWORD
    valueFrom: { secretKeyRef: { name: {{ include "payment-links.commonSecret" . }}, key: postgres-password } }
mounts: { data: /var/lib/postgresql, run: /var/run/postgresql }
resources: { requests: { cpu: 100m, memory: 128Mi }, limits: { memory: 512Mi } }
{{- end -}}

{{- define "payment-links.quickstartKafka" -}}
{{- $host := printf "%s-kafka" (include "payment-links.fullname" .) -}}
port: 9092
user: 1000
env:
  - { name: KAFKA_NODE_ID, value: "1" }
  - { name: KAFKA_PROCESS_ROLES, value: "broker,controller" }
  - { name: KAFKA_CONTROLLER_QUORUM_VOTERS, value: "1@localhost:9093" }
  - { name: KAFKA_LISTENERS, value: "PLAINTEXT://:9092,CONTROLLER://localhost:9093" }
  - { name: KAFKA_ADVERTISED_LISTENERS, value: "PLAINTEXT://{{ $host }}:9092" }
  - { name: KAFKA_CONTROLLER_LISTENER_NAMES, value: CONTROLLER }
  - { name: KAFKA_LISTENER_SECURITY_PROTOCOL_MAP, value: "PLAINTEXT:PLAINTEXT,CONTROLLER:PLAINTEXT" }
  - { name: KAFKA_AUTO_CREATE_TOPICS_ENABLE, value: "false" }
  - { name: KAFKA_OFFSETS_TOPIC_REPLICATION_FACTOR, value: "1" }
  - { name: KAFKA_TRANSACTION_STATE_LOG_REPLICATION_FACTOR, value: "1" }
  - { name: KAFKA_TRANSACTION_STATE_LOG_MIN_ISR, value: "1" }
  - { name: KAFKA_LOG_DIRS, value: /var/lib/kafka/data/logs }
  - { name: KAFKA_HEAP_OPTS, value: "-Xms256m -Xmx512m" }
mounts: { data: /var/lib/kafka/data, config: /opt/kafka/config, logs: /opt/kafka/logs }
resources: { requests: { cpu: 100m, memory: 512Mi }, limits: { memory: 1Gi } }
{{- end -}}

{{- define "payment-links.quickstartRedis" -}}
port: 6379
user: 999
# Without a password, Redis accepts only local connections unless protected mode is off.
args: [redis-server, --protected-mode, "no", --save, "", --maxmemory, 64mb, --maxmemory-policy, volatile-ttl]
mounts: { work: /data }
resources: { requests: { cpu: 50m, memory: 32Mi }, limits: { memory: 128Mi } }
{{- end -}}

{{- define "payment-links.quickstartLabels" -}}
{{- merge (dict) (include "payment-links.ownLabels" . | fromYaml) .root.Values.commonLabels | toYaml -}}
{{- end -}}

{{/* The spec of a pod with a third-party image: like ours, but with the image's user. */}}
{{- define "payment-links.quickstartPod" -}}
automountServiceAccountToken: false
enableServiceLinks: false
{{- with .root.Values.image.pullSecrets }}
imagePullSecrets:
  {{- range . }}
  - name: {{ . }}
  {{- end }}
{{- end }}
{{- $own := dict "runAsUser" .user "runAsGroup" .user "fsGroup" .user }}
securityContext: {{- merge $own .root.Values.podSecurityContext | toYaml | nindent 2 }}
{{- end -}}

{{- define "payment-links.quickstartContainer" -}}
imagePullPolicy: {{ .Values.quickstart.pullPolicy | default .Values.image.pullPolicy }}
securityContext: {{- omit .Values.containerSecurityContext "runAsUser" "runAsGroup" | toYaml | nindent 2 }}
{{- end -}}

{{/* The nginx configuration for the single origin. It matches whole path segments, the longest prefix first, like an Ingress. */}}
{{- define "payment-links.originConf" -}}
{{- $full := include "payment-links.fullname" . -}}
pid /tmp/nginx.pid;
error_log stderr warn;
events {}
http {
  access_log off;
  client_body_temp_path /tmp/body;
  proxy_temp_path /tmp/proxy;
  fastcgi_temp_path /tmp/fastcgi;
  uwsgi_temp_path /tmp/uwsgi;
  scgi_temp_path /tmp/scgi;
  client_max_body_size 3m;
  proxy_http_version 1.1;
  proxy_set_header Host $http_host;
  proxy_set_header Connection "";
  proxy_buffering off;
  server {
    listen 8080;
    {{- range $path, $service := include "payment-links.paths" . | fromYaml }}
    {{- if ne $path "/" }}
    location = {{ $path }} { proxy_pass http://{{ $full }}-{{ $service }}:8080; }
    {{- end }}
    location {{ trimSuffix "/" $path }}/ { proxy_pass http://{{ $full }}-{{ $service }}:8080; }
    {{- end }}
  }
}
{{- end -}}
