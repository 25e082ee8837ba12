{{/* An HPA that scales a service on CPU. */}}
{{- define "payment-links.autoscaler" -}}
apiVersion: autoscaling/v2
kind: HorizontalPodAutoscaler
metadata:
  name: {{ .name }}
  {{- include "payment-links.metadata" . | nindent 2 }}
spec:
  scaleTargetRef: { apiVersion: apps/v1, kind: Deployment, name: {{ .name }} }
  minReplicas: {{ .values.autoscaling.minReplicas }}
  maxReplicas: {{ .values.autoscaling.maxReplicas }}
  metrics:
    - type: Resource
      resource:
        name: cpu
        target: { type: Utilization, averageUtilization: {{ .values.autoscaling.targetCpuPercent }} }
  {{- with .values.autoscaling.behavior }}
  behavior: {{- toYaml . | nindent 4 }}
  {{- end }}
{{- end -}}

{{/* A KEDA ScaledObject that scales a service on CPU and backlog. `Value` compares the delay itself with the target; an average per pod would hide it. */}}
{{- define "payment-links.scaledObject" -}}
{{- $keda := .values.keda -}}
apiVersion: keda.sh/v1alpha1
kind: ScaledObject
metadata:
  name: {{ .name }}
  {{- include "payment-links.metadata" . | nindent 2 }}
spec:
  scaleTargetRef: { name: {{ .name }} }
  minReplicaCount: {{ $keda.minReplicas }}
  maxReplicaCount: {{ $keda.maxReplicas }}
  {{- with $keda.behavior }}
  advanced:
    horizontalPodAutoscalerConfig:
      behavior: {{- toYaml . | nindent 8 }}
  {{- end }}
  triggers:
    - type: cpu
      metricType: Utilization
      metadata: { value: {{ $keda.targetCpuPercent | quote }} }
    {{- include "payment-links.waitTrigger" (dict "root" .root "name" "lag" "target" $keda.lagSeconds "query" (include "payment-links.lagQuery" .)) | nindent 4 }}
    {{- with $keda.overdueSeconds }}
    {{- include "payment-links.waitTrigger" (dict "root" $.root "name" "overdue" "target" . "query" (include "payment-links.overdueQuery" $)) | nindent 4 }}
    {{- end }}
{{- end -}}

{{- define "payment-links.waitTrigger" -}}
{{- $prometheus := .root.Values.keda.prometheus -}}
- type: prometheus
  name: {{ .name }}
  metricType: Value
  metadata:
    serverAddress: {{ $prometheus.serverAddress | quote }}
    query: {{ .query | quote }}
    threshold: {{ .target | quote }}
    {{- with $prometheus.authModes }}
    authModes: {{ . | quote }}
    {{- end }}
  {{- if $prometheus.authenticationRef.name }}
  authenticationRef: {{- toYaml $prometheus.authenticationRef | nindent 4 }}
  {{- end }}
{{- end -}}

{{/* The average delay until an event is applied, in seconds, for the topic with the longest delay. 0 if no event was applied. */}}
{{- define "payment-links.lagQuery" -}}
{{- $of := printf "{namespace=%q,group=%q}[2m]" .root.Release.Namespace .service -}}
{{- $sum := printf "sum by (topic) (rate(payment_links_consumer_lag_seconds_sum%s))" $of -}}
{{- $count := printf "sum by (topic) (rate(payment_links_consumer_lag_seconds_count%s))" $of -}}
{{- printf "max(%s / %s > 0) or vector(0)" $sum $count -}}
{{- end -}}

{{/* The age of the oldest due webhook, in seconds. Every pod reports the same value. */}}
{{- define "payment-links.overdueQuery" -}}
{{- printf "max(payment_links_webhook_oldest_due_age_seconds{namespace=%q}) or vector(0)" .root.Release.Namespace -}}
{{- end -}}
