{{/*
All resources of a service: ServiceAccount, Service, Deployment and, if needed, PodDisruptionBudget and
HorizontalPodAutoscaler or ScaledObject. Takes `root`, `service` and `key`, the key of its values.
*/}}
{{- define "payment-links.workload" -}}
{{- $values := index .root.Values .key -}}
{{- $name := printf "%s-%s" (include "payment-links.fullname" .root) .service -}}
{{- $context := merge (dict "values" $values "name" $name "component" .service) . -}}
{{- if not $values.serviceAccount.name }}
apiVersion: v1
kind: ServiceAccount
metadata:
  name: {{ $name }}
  {{- include "payment-links.metadata" (merge (dict "annotations" $values.serviceAccount.annotations) $context) | nindent 2 }}
automountServiceAccountToken: false
---
{{- end }}
apiVersion: v1
kind: Service
metadata:
  name: {{ $name }}
  {{- include "payment-links.metadata" (merge (dict "labels" $values.service.labels "annotations" $values.service.annotations) $context) | nindent 2 }}
spec:
  {{- with .root.Values.ipFamilyPolicy }}
  ipFamilyPolicy: {{ . }}
  {{- end }}
  {{- with .root.Values.ipFamilies }}
  ipFamilies: {{- toYaml . | nindent 4 }}
  {{- end }}
  selector: {{- include "payment-links.selector" $context | nindent 4 }}
  ports:
    - { name: http, port: 8080, targetPort: http, protocol: TCP, appProtocol: http }
    - { name: internal, port: 8081, targetPort: internal, protocol: TCP, appProtocol: http }
---
{{ include "payment-links.deployment" $context }}
{{- if gt (include "payment-links.replicasMin" $context | int) 1 }}
---
apiVersion: policy/v1
kind: PodDisruptionBudget
metadata:
  name: {{ $name }}
  {{- include "payment-links.metadata" $context | nindent 2 }}
spec:
  maxUnavailable: {{ $values.maxUnavailable }}
  # Pods that are not ready must not block the draining of a node.
  unhealthyPodEvictionPolicy: AlwaysAllow
  selector:
    matchLabels: {{- include "payment-links.selector" $context | nindent 6 }}
{{- end }}
{{- $scaler := include "payment-links.scaler" $context }}
{{- if eq $scaler "autoscaling" }}
---
{{ include "payment-links.autoscaler" $context }}
{{- end }}
{{- if eq $scaler "keda" }}
---
{{ include "payment-links.scaledObject" $context }}
{{- end }}
{{- end -}}

{{- define "payment-links.deployment" -}}
apiVersion: apps/v1
kind: Deployment
metadata:
  name: {{ .name }}
  {{- include "payment-links.metadata" . | nindent 2 }}
spec:
  {{- if not (include "payment-links.scaler" .) }}
  replicas: {{ include "payment-links.replicasMin" . }}
  {{- end }}
  revisionHistoryLimit: 5
  strategy: {{- toYaml .values.strategy | nindent 4 }}
  {{- with .values.minReadySeconds }}
  minReadySeconds: {{ . }}
  {{- end }}
  selector:
    matchLabels: {{- include "payment-links.selector" . | nindent 6 }}
  template:
    metadata:
      labels:
        {{- $own := include "payment-links.ownLabels" . | fromYaml }}
        {{- merge (dict) $own .values.podLabels .root.Values.commonLabels | toYaml | nindent 8 }}
      annotations:
        # Pods read these settings only at startup, so a change must restart them.
        checksum/settings: {{ include "payment-links.settings" .root | sha256sum }}
        checksum/secrets: {{ include "payment-links.inlineSecrets" .root | sha256sum }}
        {{- with .values.podAnnotations }}
        {{- toYaml . | nindent 8 }}
        {{- end }}
    spec:
      serviceAccountName: {{ .values.serviceAccount.name | default .name }}
      {{- include "payment-links.pod" . | nindent 6 }}
      terminationGracePeriodSeconds: {{ .root.Values.terminationGracePeriodSeconds }}
      {{- with .values.topologySpreadConstraints }}
      topologySpreadConstraints:
        {{- $own := dict "labelSelector" (dict "matchLabels" (include "payment-links.selector" $ | fromYaml)) "matchLabelKeys" (list "pod-template-hash") }}
        {{- range . }}
        {{- $constraint := . }}
        {{- range $field, $value := $own }}
        {{- if not (hasKey $constraint $field) }}{{ $constraint = merge (dict $field $value) $constraint }}{{ end }}
        {{- end }}
        - {{- toYaml $constraint | nindent 10 }}
        {{- end }}
      {{- end }}
      {{- with .values.extraInitContainers }}
      initContainers: {{- toYaml . | nindent 8 }}
      {{- end }}
      containers:
        - {{- include "payment-links.container" (merge (dict "name" .service) .) | nindent 10 }}
          ports:
            - { name: http, containerPort: 8080, protocol: TCP }
            - { name: internal, containerPort: 8081, protocol: TCP }
          env:
            {{- include "payment-links.ownEnvOf" . | nindent 12 }}
            {{- with .values.extraEnv }}
            {{- toYaml . | nindent 12 }}
            {{- end }}
          {{- with .values.extraEnvFrom }}
          envFrom: {{- toYaml . | nindent 12 }}
          {{- end }}
          {{- include "payment-links.probes" .values.probes | nindent 10 }}
          volumeMounts: {{- include "payment-links.volumeMounts" . | nindent 12 }}
        {{- with .values.extraContainers }}
        {{- toYaml . | nindent 8 }}
        {{- end }}
      volumes: {{- include "payment-links.volumes" . | nindent 8 }}
{{- end -}}

{{/*
Startup: the process listens. Readiness: it can handle requests and is not stopping. Liveness: it still responds. The
liveness probe does not check dependencies, because a restart would not repair them.
*/}}
{{- define "payment-links.probes" -}}
startupProbe:
  httpGet: { path: /livez, port: internal }
  {{- toYaml .startup | nindent 2 }}
readinessProbe:
  httpGet: { path: /readyz, port: internal }
  {{- toYaml .readiness | nindent 2 }}
livenessProbe:
  httpGet: { path: /livez, port: internal }
  {{- toYaml .liveness | nindent 2 }}
  # A process that does not respond cannot stop gracefully, so it is killed after a short time.
  terminationGracePeriodSeconds: 5
{{- end -}}

{{/* The variables that the chart sets for a service: the common ones and its own. */}}
{{- define "payment-links.ownEnvOf" -}}
{{- $context := merge (dict "values" (index .root.Values .key) "inline" (printf "%s-secrets" (include "payment-links.fullname" .root))) . -}}
{{ include "payment-links.env" $context }}
{{- with include (printf "payment-links.%sEnv" .key) $context | trim }}
{{ . }}
{{- end }}
{{- end -}}
