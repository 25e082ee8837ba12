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

{{- define "payment-links.pullSecrets" -}}
{{- with .Values.image.pullSecrets }}
imagePullSecrets:
  {{- range . }}
  - name: {{ . }}
  {{- end }}
{{- end }}
{{- end -}}

{{/* The files of a pod: its own `/tmp`, certificates, and settings that are files. */}}
{{- define "payment-links.volumes" -}}
- name: tmp
  emptyDir: { sizeLimit: 16Mi }
{{- with .Values.trustedCertificates.existingConfigMap }}
- name: certificates
  configMap: { name: {{ . }} }
{{- end }}
{{- if or .Values.catalogue .Values.settlementListener.chains.settings }}
- name: settings
  configMap: { name: {{ include "payment-links.fullname" . }}-settings, optional: true }
{{- end }}
{{- end -}}

{{- define "payment-links.volumeMounts" -}}
- { name: tmp, mountPath: /tmp }
{{- if .Values.trustedCertificates.existingConfigMap }}
- { name: certificates, mountPath: /etc/payment-links/certificates, readOnly: true }
{{- end }}
{{- if or .Values.catalogue .Values.settlementListener.chains.settings }}
- { name: settings, mountPath: /etc/payment-links/settings, readOnly: true }
{{- end }}
{{- end -}}
