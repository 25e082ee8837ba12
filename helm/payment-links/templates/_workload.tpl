{{/*
All resources of one service: ServiceAccount, Service, Deployment, and if they apply PodDisruptionBudget
and HorizontalPodAutoscaler. Takes `root`, `service`, `key` (its block of values).
*/}}
{{- define "payment-links.workload" -}}
{{- $values := index .root.Values .key -}}
{{- $name := printf "%s-%s" (include "payment-links.fullname" .root) .service -}}
{{- $context := merge (dict "values" $values "name" $name "component" .service) . -}}
apiVersion: v1
kind: ServiceAccount
metadata:
  name: {{ $name }}
  labels: {{- include "payment-links.labels" $context | nindent 4 }}
automountServiceAccountToken: false
---
apiVersion: v1
kind: Service
metadata:
  name: {{ $name }}
  labels: {{- include "payment-links.labels" $context | nindent 4 }}
spec:
  selector: {{- include "payment-links.selector" $context | nindent 4 }}
  ports:
    - { name: http, port: 8080, targetPort: http, protocol: TCP, appProtocol: http }
    - { name: internal, port: 8081, targetPort: internal, protocol: TCP, appProtocol: http }
---
{{ include "payment-links.deployment" $context }}
{{- if gt (include "payment-links.replicasMin" $values | int) 1 }}
---
apiVersion: policy/v1
kind: PodDisruptionBudget
metadata:
  name: {{ $name }}
  labels: {{- include "payment-links.labels" $context | nindent 4 }}
spec:
  maxUnavailable: {{ $values.maxUnavailable }}
  # A pod that is not ready must not keep a node from being drained.
  unhealthyPodEvictionPolicy: AlwaysAllow
  selector:
    matchLabels: {{- include "payment-links.selector" $context | nindent 6 }}
{{- end }}
{{- if $values.autoscaling.enabled }}
---
apiVersion: autoscaling/v2
kind: HorizontalPodAutoscaler
metadata:
  name: {{ $name }}
  labels: {{- include "payment-links.labels" $context | nindent 4 }}
spec:
  scaleTargetRef: { apiVersion: apps/v1, kind: Deployment, name: {{ $name }} }
  minReplicas: {{ $values.autoscaling.minReplicas }}
  maxReplicas: {{ $values.autoscaling.maxReplicas }}
  metrics:
    - type: Resource
      resource:
        name: cpu
        target: { type: Utilization, averageUtilization: {{ $values.autoscaling.targetCpuPercent }} }
{{- end }}
{{- end -}}

{{- define "payment-links.deployment" -}}
apiVersion: apps/v1
kind: Deployment
metadata:
  name: {{ .name }}
  labels: {{- include "payment-links.labels" . | nindent 4 }}
spec:
  {{- if not .values.autoscaling.enabled }}
  replicas: {{ .values.replicas }}
  {{- end }}
  revisionHistoryLimit: 5
  strategy:
    type: RollingUpdate
    rollingUpdate: { maxSurge: 1, maxUnavailable: 0 }
  selector:
    matchLabels: {{- include "payment-links.selector" . | nindent 6 }}
  template:
    metadata:
      labels:
        {{- include "payment-links.labels" . | nindent 8 }}
        {{- with .values.podLabels }}
        {{- toYaml . | nindent 8 }}
        {{- end }}
      annotations:
        # Pods read this only when they start, so they are restarted when it changes.
        checksum/settings: {{ include "payment-links.settings" .root | sha256sum }}
        checksum/secrets: {{ include "payment-links.inlineSecrets" .root | sha256sum }}
        {{- with .values.podAnnotations }}
        {{- toYaml . | nindent 8 }}
        {{- end }}
    spec:
      serviceAccountName: {{ .name }}
      automountServiceAccountToken: false
      enableServiceLinks: false
      {{- include "payment-links.pullSecrets" .root | nindent 6 }}
      securityContext: {{- include "payment-links.podSecurity" .root | nindent 8 }}
      terminationGracePeriodSeconds: {{ .root.Values.terminationGracePeriodSeconds }}
      {{- with .values.priorityClassName }}
      priorityClassName: {{ . }}
      {{- end }}
      {{- with .values.nodeSelector }}
      nodeSelector: {{- toYaml . | nindent 8 }}
      {{- end }}
      {{- with .values.tolerations }}
      tolerations: {{- toYaml . | nindent 8 }}
      {{- end }}
      {{- with .values.affinity }}
      affinity: {{- toYaml . | nindent 8 }}
      {{- end }}
      topologySpreadConstraints:
        {{- range list "topology.kubernetes.io/zone" "kubernetes.io/hostname" }}
        - topologyKey: {{ . }}
          maxSkew: 1
          whenUnsatisfiable: ScheduleAnyway
          matchLabelKeys: [pod-template-hash]
          labelSelector:
            matchLabels: {{- include "payment-links.selector" $ | nindent 14 }}
        {{- end }}
      containers:
        - name: {{ .service }}
          image: {{ include "payment-links.image" . }}
          imagePullPolicy: {{ .root.Values.image.pullPolicy }}
          securityContext: {{- include "payment-links.containerSecurity" .root | nindent 12 }}
          ports:
            - { name: http, containerPort: 8080, protocol: TCP }
            - { name: internal, containerPort: 8081, protocol: TCP }
          env:
            {{- include "payment-links.ownEnvOf" . | nindent 12 }}
            {{- with .values.extraEnv }}
            {{- toYaml . | nindent 12 }}
            {{- end }}
          {{- include "payment-links.probes" . | nindent 10 }}
          resources: {{- toYaml .values.resources | nindent 12 }}
          volumeMounts: {{- include "payment-links.volumeMounts" .root | nindent 12 }}
      volumes: {{- include "payment-links.volumes" .root | nindent 8 }}
{{- end -}}

{{/*
Startup: the process listens. Readiness: it can do its work, and is not about to end. Liveness: it still
responds. It never asks about other things, as a restart would not mend those.
*/}}
{{- define "payment-links.probes" -}}
startupProbe:
  httpGet: { path: /livez, port: internal }
  periodSeconds: 2
  timeoutSeconds: 2
  failureThreshold: 90
readinessProbe:
  httpGet: { path: /readyz, port: internal }
  periodSeconds: 3
  timeoutSeconds: 3
  failureThreshold: 2
livenessProbe:
  httpGet: { path: /livez, port: internal }
  periodSeconds: 5
  timeoutSeconds: 3
  failureThreshold: 4
  # A process that does not answer will not end in order either, so it is killed soon.
  terminationGracePeriodSeconds: 5
{{- end -}}

{{/* The variables that the chart sets in a service: the common ones and the service's own. */}}
{{- define "payment-links.ownEnvOf" -}}
{{- $context := merge (dict "values" (index .root.Values .key) "inline" (printf "%s-secrets" (include "payment-links.fullname" .root))) . -}}
{{ include "payment-links.env" $context }}
{{- with include (printf "payment-links.%sEnv" .key) $context | trim }}
{{ . }}
{{- end }}
{{- end -}}
