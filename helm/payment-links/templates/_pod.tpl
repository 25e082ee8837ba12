{{/*
The security context of a pod or container: the fields in `values` override those of the common context. Takes `root`,
`values` and `field`.
*/}}
{{- define "payment-links.securityContext" -}}
{{- $context := mergeOverwrite (deepCopy (index .root.Values .field)) (index .values .field) -}}
{{- range $name, $value := $context -}}
{{- if kindIs "invalid" $value }}{{ $_ := unset $context $name }}{{ end -}}
{{- end -}}
{{ toYaml $context }}
{{- end -}}

{{/* The part of the spec that all our pods have in common. Takes `root` and `values`, the pod's values. */}}
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

{{/* The part of the spec that all our containers have in common. Takes `root`, `name`, `service` (for the image) and `values`, the pod's values. */}}
{{- define "payment-links.container" -}}
name: {{ .name }}
image: {{ include "payment-links.image" . }}
imagePullPolicy: {{ (include "payment-links.ownImage" . | fromYaml).pullPolicy | default .root.Values.image.pullPolicy }}
securityContext: {{- include "payment-links.securityContext" (merge (dict "field" "containerSecurityContext") .) | nindent 2 }}
resources: {{- toYaml .values.resources | nindent 2 }}
{{- end -}}

{{/*
The volumes of a pod: `/tmp`, certificates, settings files and additional volumes. Takes `root` and `values`. With `mayLack`,
the pod starts even if the certificates are missing, and must wait for them itself.
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
