{{/*
What keeps these values from being rendered, as a YAML list: what is missing comes first, in one line. The forms
of single values are in values.schema.json; here is what one value requires of another.
*/}}
{{- define "payment-links.faults" -}}
{{- $faults := list -}}
{{- with include "payment-links.missing" . | fromYamlArray -}}
{{- $faults = append $faults (printf "required: %s" (join ", " .)) -}}
{{- end -}}
{{- $parts := list "secretFaults" "kafkaFaults" "workloadFaults" "routeFaults" "settingFaults" "objectFaults" -}}
{{- range $parts -}}
{{- $faults = concat $faults (include (printf "payment-links.%s" .) $ | fromYamlArray) -}}
{{- end -}}
{{ toYaml $faults }}
{{- end -}}

{{/* The values that are missing, each by its name. */}}
{{- define "payment-links.missing" -}}
{{- $values := .Values -}}
{{- $oidc := $values.authKeys.oidc -}}
{{- $missing := list -}}
{{- if not $values.baseUrl }}{{ $missing = append $missing "baseUrl" }}{{ end -}}
{{- if not $values.kafka.brokers }}{{ $missing = append $missing "kafka.brokers" }}{{ end -}}
{{- if or $values.ingress.enabled $values.httpRoute.enabled -}}
{{- if not $values.trustedProxies }}{{ $missing = append $missing "trustedProxies (behind an ingress or httpRoute)" }}{{ end -}}
{{- if and $values.networkPolicy.enabled (not $values.networkPolicy.edgeFrom) -}}
{{- $missing = append $missing "networkPolicy.edgeFrom (behind an ingress or httpRoute)" -}}
{{- end -}}
{{- end -}}
{{- if and $values.httpRoute.enabled (not $values.httpRoute.parentRefs) }}{{ $missing = append $missing "httpRoute.parentRefs" }}{{ end -}}
{{- if and $oidc.issuer (not $oidc.clientId) }}{{ $missing = append $missing "authKeys.oidc.clientId" }}{{ end -}}
{{- $wantsOidc := or $oidc.clientId $oidc.allowedGroups (eq $values.authKeys.signUp "oidc") (has "oidc" $values.authKeys.signInMethods) -}}
{{- if and $wantsOidc (not $oidc.issuer) }}{{ $missing = append $missing "authKeys.oidc.issuer" }}{{ end -}}
{{- if and $values.transferChains (not $values.settlementListener.chains.enabled) -}}
{{- $missing = append $missing "settlementListener.chains.enabled (with transferChains)" -}}
{{- end -}}
{{- range include "payment-links.neededSecrets" . | fromYamlArray -}}
{{- $secret := index $values.secrets . -}}
{{- if not (or $secret.existingSecret $secret.value $values.secrets.existingSecret) -}}
{{- $missing = append $missing (printf "secrets.%s" .) -}}
{{- end -}}
{{- end -}}
{{ toYaml $missing }}
{{- end -}}

{{/* The secrets without which these values cannot be run. */}}
{{- define "payment-links.neededSecrets" -}}
{{- $values := .Values -}}
{{- $services := values (include "payment-links.services" . | fromYaml) | sortAlpha -}}
{{- $needed := list "internalToken" "operatorToken" "redisUrl" "webhookSecretKeys" -}}
{{- range $services }}{{ $needed = append $needed (printf "%sDatabaseUrl" .) }}{{ end -}}
{{- if $values.migrations.enabled }}{{ $needed = append $needed "migrationDatabaseUrl" }}{{ end -}}
{{- with $values.kafka.sasl -}}
{{- if and .mechanism (or $values.migrations.enabled (not .perService)) -}}
{{- $needed = concat $needed (list "kafkaUsername" "kafkaPassword") -}}
{{- end -}}
{{- if and .mechanism .perService -}}
{{- range $services }}{{ $needed = concat $needed (list (printf "%sKafkaUsername" .) (printf "%sKafkaPassword" .)) }}{{ end -}}
{{- end -}}
{{- end -}}
{{- if $values.settlementListener.chains.enabled }}{{ $needed = append $needed "evmRpcUrls" }}{{ end -}}
{{- if $values.authKeys.contractWallets }}{{ $needed = append $needed "signInRpcUrls" }}{{ end -}}
{{ toYaml $needed }}
{{- end -}}

{{- define "payment-links.secretFaults" -}}
{{- $faults := list -}}
{{- range $name, $secret := omit .Values.secrets "existingSecret" -}}
{{- if and $secret.existingSecret $secret.value -}}
{{- $faults = append $faults (printf "secrets.%s: existingSecret and value are both given; one of them must go" $name) -}}
{{- end -}}
{{- end -}}
{{ toYaml $faults }}
{{- end -}}

{{- define "payment-links.kafkaFaults" -}}
{{- $faults := list -}}
{{- with .Values.kafka.sasl -}}
{{- if and .perService (not .mechanism) }}{{ $faults = append $faults "kafka.sasl.perService: needs kafka.sasl.mechanism" }}{{ end -}}
{{- if and .grant (not .perService) }}{{ $faults = append $faults "kafka.sasl.grant: needs kafka.sasl.perService" }}{{ end -}}
{{- end -}}
{{ toYaml $faults }}
{{- end -}}

{{- define "payment-links.workloadFaults" -}}
{{- $faults := list -}}
{{- if le (int .Values.terminationGracePeriodSeconds) (add (int .Values.drainDelaySeconds) 25) -}}
{{- $faults = append $faults "terminationGracePeriodSeconds: is not more than drainDelaySeconds and 25 s" -}}
{{- end -}}
{{- range $service, $key := include "payment-links.services" . | fromYaml -}}
{{- $values := index $.Values $key -}}
{{- if gt (int $values.autoscaling.minReplicas) (int $values.autoscaling.maxReplicas) -}}
{{- $faults = append $faults (printf "%s.autoscaling.maxReplicas: is less than minReplicas" $key) -}}
{{- end -}}
{{- $seen := dict -}}
{{- range include "payment-links.ownEnvOf" (dict "root" $ "service" $service "key" $key) | fromYamlArray -}}
{{- $_ := set $seen .name true -}}
{{- end -}}
{{- range $values.extraEnv -}}
{{- if hasKey $seen .name -}}
{{- $faults = append $faults (printf "%s.extraEnv: %s is set by the chart, or given twice" $key .name) -}}
{{- end -}}
{{- $_ := set $seen .name true -}}
{{- end -}}
{{- $ownLabels := include "payment-links.labels" (dict "root" $ "component" $service) | fromYaml -}}
{{- range keys $values.podLabels | sortAlpha -}}
{{- if hasKey $ownLabels . }}{{ $faults = append $faults (printf "%s.podLabels: %s is set by the chart" $key .) }}{{ end -}}
{{- end -}}
{{- range keys $values.podAnnotations | sortAlpha -}}
{{- if hasPrefix "checksum/" . }}{{ $faults = append $faults (printf "%s.podAnnotations: %s is the chart's own" $key .) }}{{ end -}}
{{- end -}}
{{- end -}}
{{ toYaml $faults }}
{{- end -}}

{{/* An origin to which nothing leads is found out by payers, not by the platform. */}}
{{- define "payment-links.routeFaults" -}}
{{- $faults := list -}}
{{- if and (hasPrefix "http://" .Values.baseUrl) (not .Values.allowInsecureCookie) -}}
{{- if not (regexMatch "^http://(localhost|127\\.0\\.0\\.1|\\[::1\\])(:\\d+)?$" .Values.baseUrl) -}}
{{- $faults = append $faults "allowInsecureCookie: must be true where baseUrl is plain http on a host that is not loopback" -}}
{{- end -}}
{{- end -}}
{{- range $kind, $hosts := include "payment-links.routedHosts" . | fromYaml -}}
{{- range $origin := list "baseUrl" "checkoutUrl" -}}
{{- $host := include "payment-links.hostOf" (index $.Values $origin) -}}
{{- $wildcard := printf "*.%s" (rest (splitList "." $host) | join ".") -}}
{{- if and $host (not (has $host $hosts)) (not (has $wildcard $hosts)) -}}
{{- $faults = append $faults (printf "%s: does not have %s, the host of %s" $kind $host $origin) -}}
{{- end -}}
{{- end -}}
{{- end -}}
{{ toYaml $faults }}
{{- end -}}

{{- define "payment-links.settingFaults" -}}
{{- $faults := list -}}
{{- $texts := dict "catalogue" .Values.catalogue "settlementListener.chains.settings" .Values.settlementListener.chains.settings -}}
{{- range $name, $text := $texts -}}
{{- if and $text (not (hasPrefix "{" (trim $text))) -}}
{{- $faults = append $faults (printf "%s: is no JSON object" $name) -}}
{{- else -}}
{{- with (fromJson (default "{}" $text)).Error }}{{ $faults = append $faults (printf "%s: is no JSON: %s" $name .) }}{{ end -}}
{{- end -}}
{{- end -}}
{{ toYaml $faults }}
{{- end -}}

{{/* What brings a Secret comes too late if the hook that needs that Secret runs before it. */}}
{{- define "payment-links.objectFaults" -}}
{{- $faults := list -}}
{{- if and .Values.migrations.enabled .Values.migrations.useHelmHooks -}}
{{- range $index, $object := .Values.extraObjects -}}
{{- $isHook := hasKey (default dict (default dict $object.metadata).annotations) "helm.sh/hook" -}}
{{- if and (regexMatch "Secret" $object.kind) (not $isHook) -}}
{{- $faults = append $faults (printf "extraObjects[%d]: %s comes after the migrations Job, which may need it: switch migrations.useHelmHooks off, or make it before the release" $index $object.kind) -}}
{{- end -}}
{{- end -}}
{{- end -}}
{{ toYaml $faults }}
{{- end -}}
