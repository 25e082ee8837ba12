{{/* The prefix of every resource: the release's name, followed by the chart's if it does not contain it. */}}
{{- define "payment-links.fullname" -}}
{{- $name := default .Chart.Name .Values.nameOverride -}}
{{- $full := ternary .Release.Name (printf "%s-%s" .Release.Name $name) (contains $name .Release.Name) -}}
{{- default $full .Values.fullnameOverride | trunc 38 | trimSuffix "-" -}}
{{- end -}}

{{/* The labels that select the pods of a release; with `component`, those of one service. They can never change. */}}
{{- define "payment-links.selector" -}}
app.kubernetes.io/name: {{ default .root.Chart.Name .root.Values.nameOverride }}
app.kubernetes.io/instance: {{ .root.Release.Name }}
{{- with .component }}
app.kubernetes.io/component: {{ . }}
{{- end }}
{{- end -}}

{{/* The labels of every resource. */}}
{{- define "payment-links.labels" -}}
{{ include "payment-links.selector" . }}
app.kubernetes.io/version: {{ .root.Chart.AppVersion | quote }}
app.kubernetes.io/part-of: payment-links
app.kubernetes.io/managed-by: {{ .root.Release.Service }}
helm.sh/chart: {{ printf "%s-%s" .root.Chart.Name .root.Chart.Version | replace "+" "_" }}
{{- end -}}

{{/* The four services, each with its block of values, in the order in which they are prepared. */}}
{{- define "payment-links.services" -}}
auth-keys: authKeys
links-api: linksApi
settlement-listener: settlementListener
webhook-dispatcher: webhookDispatcher
{{- end -}}

{{/* The image of one service: a digest wins over a tag. */}}
{{- define "payment-links.image" -}}
{{- $image := .root.Values.image -}}
{{- $values := index .root.Values (index (include "payment-links.services" . | fromYaml) .service) -}}
{{- $path := printf "%s/%s" $image.repository .service -}}
{{- with $image.registry -}}{{- $path = printf "%s/%s" . $path -}}{{- end -}}
{{- if $values.image.digest -}}
{{- printf "%s@%s" $path $values.image.digest -}}
{{- else -}}
{{- printf "%s:%s" $path (default .root.Chart.AppVersion $image.tag) -}}
{{- end -}}
{{- end -}}

{{/* The host of an origin, without its port. */}}
{{- define "payment-links.hostOf" -}}
{{- (urlParse (default "" .)).host | splitList ":" | first -}}
{{- end -}}

{{/* The hosts that lead here, by the value that names them; those of the origins where it names none. */}}
{{- define "payment-links.routedHosts" -}}
{{- $origins := list (include "payment-links.hostOf" .Values.baseUrl) (include "payment-links.hostOf" .Values.checkoutUrl) | compact | uniq -}}
{{- if .Values.ingress.enabled }}
ingress.hosts: {{ .Values.ingress.hosts | default $origins | toJson }}
{{- end }}
{{- if .Values.httpRoute.enabled }}
httpRoute.hostnames: {{ .Values.httpRoute.hostnames | default $origins | toJson }}
{{- end }}
{{- end -}}

{{/*
The paths of the one origin and the service behind each; a longer prefix wins. deploy/src/ingress.ts
says the same for the four services in one process.
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
/checkout/images: webhook-dispatcher
/settlement-notices: settlement-listener
/: links-api
{{- end -}}
