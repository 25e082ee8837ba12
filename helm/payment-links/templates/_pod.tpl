{{/* What the restricted Pod Security level requires of a pod. */}}
{{- define "payment-links.podSecurity" -}}
runAsNonRoot: true
{{- with .Values.podSecurity.runAsUser }}
runAsUser: {{ . | int64 }}
{{- end }}
{{- with .Values.podSecurity.runAsGroup }}
runAsGroup: {{ . | int64 }}
{{- end }}
seccompProfile: { type: RuntimeDefault }
{{- end -}}

{{/* What it requires of a container, and a read-only root. */}}
{{- define "payment-links.containerSecurity" -}}
allowPrivilegeEscalation: false
readOnlyRootFilesystem: true
capabilities: { drop: [ALL] }
{{- end -}}

{{/* What all our pods have in common, around their containers. Takes `root` and `values`, the block that places them. */}}
{{- define "payment-links.pod" -}}
automountServiceAccountToken: false
enableServiceLinks: false
{{- with .root.Values.image.pullSecrets }}
imagePullSecrets:
  {{- range . }}
  - name: {{ . }}
  {{- end }}
{{- end }}
securityContext: {{- include "payment-links.podSecurity" .root | nindent 2 }}
{{- range $field := list "priorityClassName" "nodeSelector" "tolerations" "affinity" "runtimeClassName" "schedulerName" "hostAliases" "dnsConfig" }}
{{- with index $.values $field }}
{{ $field }}: {{- toYaml . | nindent 2 }}
{{- end }}
{{- end }}
{{- end -}}

{{/* The same for our containers. Takes `root`, `name`, `service` (whose image it is) and `resources`. */}}
{{- define "payment-links.container" -}}
name: {{ .name }}
image: {{ include "payment-links.image" . }}
imagePullPolicy: {{ .root.Values.image.pullPolicy }}
securityContext: {{- include "payment-links.containerSecurity" .root | nindent 2 }}
resources: {{- toYaml .resources | nindent 2 }}
{{- end -}}

{{/*
The files of a pod: its own `/tmp`, certificates, settings that are files, and what an operator adds. Takes `root`
and `values`; with `mayLack` a pod starts without its certificates, which then must wait for them itself.
*/}}
{{- define "payment-links.volumes" -}}
- name: tmp
  emptyDir: { sizeLimit: 16Mi }
{{- with .root.Values.trustedCertificates.existingConfigMap }}
- name: certificates
  configMap: { name: {{ . }}{{ if $.mayLack }}, optional: true{{ end }} }
{{- end }}
{{- if or .root.Values.catalogue .root.Values.settlementListener.chains.settings }}
- name: settings
  configMap: { name: {{ include "payment-links.fullname" .root }}-settings, optional: true }
{{- end }}
{{- with .values.extraVolumes }}
{{ toYaml . }}
{{- end }}
{{- end -}}

{{- define "payment-links.volumeMounts" -}}
- { name: tmp, mountPath: /tmp }
{{- if .root.Values.trustedCertificates.existingConfigMap }}
- { name: certificates, mountPath: /etc/payment-links/certificates, readOnly: true }
{{- end }}
{{- if or .root.Values.catalogue .root.Values.settlementListener.chains.settings }}
- { name: settings, mountPath: /etc/payment-links/settings, readOnly: true }
{{- end }}
{{- with .values.extraVolumeMounts }}
{{ toYaml . }}
{{- end }}
{{- end -}}
