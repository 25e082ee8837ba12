{{/* The name prefix of every resource: the release's name, followed by the chart's name unless the release's name contains it. */}}
{{- define "payment-links.fullname" -}}
{{- $name := default .Chart.Name .Values.nameOverride -}}
{{- $full := ternary .Release.Name (printf "%s-%s" .Release.Name $name) (contains $name .Release.Name) -}}
{{- default $full .Values.fullnameOverride | trunc 38 | trimSuffix "-" -}}
{{- end -}}

{{/* The labels that select the pods of a release or, with `component`, of one service. They can never change. */}}
{{- define "payment-links.selector" -}}
app.kubernetes.io/name: {{ default .root.Chart.Name .root.Values.nameOverride }}
app.kubernetes.io/instance: {{ .root.Release.Name }}
{{- with .component }}
app.kubernetes.io/component: {{ . }}
{{- end }}
{{- end -}}

{{/* The labels that the chart sets on all resources. */}}
{{- define "payment-links.ownLabels" -}}
{{ include "payment-links.selector" . }}
app.kubernetes.io/version: {{ .root.Chart.AppVersion | quote }}
app.kubernetes.io/part-of: payment-links
app.kubernetes.io/managed-by: {{ .root.Release.Service }}
helm.sh/chart: {{ printf "%s-%s" .root.Chart.Name .root.Chart.Version | replace "+" "_" }}
{{- end -}}

{{/* The labels and annotations of a resource: the chart's own, those in `labels` and `annotations`, and the common ones. */}}
{{- define "payment-links.metadata" -}}
{{- $own := include "payment-links.ownLabels" . | fromYaml -}}
labels: {{- merge (dict) $own (default dict .labels) .root.Values.commonLabels | toYaml | nindent 2 }}
{{- with merge (dict) (default dict .annotations) .root.Values.commonAnnotations }}
annotations: {{- toYaml . | nindent 2 }}
{{- end }}
{{- end -}}

{{/* The four services with the keys of their values, in the order of their migrations. */}}
{{- define "payment-links.services" -}}
auth-keys: authKeys
links-api: linksApi
settlement-listener: settlementListener
webhook-dispatcher: webhookDispatcher
{{- end -}}

{{/* The image of a service. The service's own registry, path and tag override the common ones, and a digest overrides any tag. */}}
{{- define "payment-links.image" -}}
{{- $image := .root.Values.image -}}
{{- $own := include "payment-links.ownImage" . | fromYaml -}}
{{- $path := $own.repository | default (printf "%s/%s" $image.repository .service) -}}
{{- with $own.registry | default $image.registry -}}{{- $path = printf "%s/%s" . $path -}}{{- end -}}
{{- if $own.digest -}}
{{- printf "%s@%s" $path $own.digest -}}
{{- else -}}
{{- printf "%s:%s" $path ($own.tag | default $image.tag | default .root.Chart.AppVersion) -}}
{{- end -}}
{{- end -}}

{{/* The `image` value of a service. */}}
{{- define "payment-links.ownImage" -}}
{{ toYaml (index .root.Values (index (include "payment-links.services" . | fromYaml) .service)).image }}
{{- end -}}

{{/* The host of an origin, without its port. */}}
{{- define "payment-links.hostOf" -}}
{{- (urlParse (default "" .)).host | splitList ":" | first -}}
{{- end -}}

{{/* The hosts of Ingress and HTTPRoute, by the name of their value. The default is the hosts of the origins. */}}
{{- define "payment-links.routedHosts" -}}
{{- $origins := list (include "payment-links.hostOf" (include "payment-links.baseUrl" .)) (include "payment-links.hostOf" .Values.checkoutUrl) | compact | uniq -}}
{{- if .Values.ingress.enabled }}
ingress.hosts: {{ .Values.ingress.hosts | default $origins | toJson }}
{{- end }}
{{- if .Values.httpRoute.enabled }}
httpRoute.hostnames: {{ .Values.httpRoute.hostnames | default $origins | toJson }}
{{- end }}
{{- end -}}

{{/*
The path prefixes of the single origin and their services. The longest prefix wins. They must match deploy/src/ingress.ts.
*/}}
{{- define "payment-links.paths" -}}
/console/api/openapi.json: links-api
/console/api/deposits: links-api
/console/api/deposits.csv: links-api
/console/api/overview: links-api
/console/api/payment-links: links-api
/console/api/payment-links.csv: links-api
/console/api/payments.csv: links-api
/console/api/webhook-deliveries: webhook-dispatcher
/console/api/webhook-endpoints: webhook-dispatcher
/console/api: auth-keys
/command/webhook-listeners: webhook-dispatcher
/command/sign-ins: auth-keys
/checkout/images: webhook-dispatcher
/checkout/pictures: auth-keys
/settlement-notices: settlement-listener
/: links-api
{{- end -}}

{{/* The port of an origin. */}}
{{- define "payment-links.portOf" -}}
{{- $url := urlParse . -}}
{{- regexFind "\\d+$" (regexFind ":\\d+$" $url.host) | default (ternary "443" "80" (eq $url.scheme "https")) -}}
{{- end -}}

{{/* Whether the origin is plain http on loopback, so that callers can reach it only on their own machine. */}}
{{- define "payment-links.isOnLoopback" -}}
{{- if regexMatch "^http://(localhost|127\\.0\\.0\\.1|\\[::1\\])(:\\d+)?$" (include "payment-links.baseUrl" .) }}yes{{ end -}}
{{- end -}}
