{{/*
A security context: the one of all pods or containers, and over it, field by field, that of the block. Takes `root`,
`values` (the block) and `field`.
*/}}
{{- define "payment-links.securityContext" -}}
{{- $context := mergeOverwrite (deepCopy (index .root.Values .field)) (index .values .field) -}}
{{- range $name, $value := $context -}}
{{- if kindIs "invalid" $value }}{{ $_ := unset $context $name }}{{ end -}}
{{- end -}}
{{ toYaml $context }}
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
securityContext: {{- include "payment-links.securityContext" (merge (dict "field" "podSecurityContext") .) | nindent 2 }}
{{- range $field := list "priorityClassName" "nodeSelector" "tolerations" "affinity" "runtimeClassName" "schedulerName" "hostAliases" "dnsConfig" "dnsPolicy" }}
{{- with index $.values $field }}
{{ $field }}: {{- toYaml . | nindent 2 }}
{{- end }}
{{- end }}
{{- if not .values.hostUsers }}
hostUsers: false
{{- end }}
{{- end -}}

{{/* The same for our containers. Takes `root`, `name`, `service` (whose image it is) and `values`, the block of its pod. */}}
{{- define "payment-links.container" -}}
name: {{ .name }}
image: {{ include "payment-links.image" . }}
imagePullPolicy: {{ (include "payment-links.ownImage" . | fromYaml).pullPolicy | default .root.Values.image.pullPolicy }}
securityContext: {{- include "payment-links.securityContext" (merge (dict "field" "containerSecurityContext") .) | nindent 2 }}
resources: {{- toYaml .values.resources | nindent 2 }}
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
