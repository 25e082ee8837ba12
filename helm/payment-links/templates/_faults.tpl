{{/*
A YAML list of the errors in the values. The first line names all missing values. This file checks combinations of values;
values.schema.json checks single values.
*/}}
{{- define "payment-links.faults" -}}
{{- $faults := list -}}
{{- with include "payment-links.missing" . | fromYamlArray -}}
{{- $faults = append $faults (printf "required: %s" (join ", " .)) -}}
{{- end -}}
{{- $parts := list "secretFaults" "workloadFaults" "podFaults" "securityFaults" "metadataFaults" "routeFaults" "settingFaults" "monitoringFaults" "objectFaults" "quickstartFaults" -}}
{{- range $parts -}}
{{- $faults = concat $faults (include (printf "payment-links.%s" .) $ | fromYamlArray) -}}
{{- end -}}
{{ toYaml $faults }}
{{- end -}}

{{/* The names of missing values. */}}
{{- define "payment-links.missing" -}}
{{- $values := .Values -}}
{{- $oidc := $values.authKeys.oidc -}}
{{- $missing := list -}}
{{- if not (include "payment-links.baseUrl" .) }}{{ $missing = append $missing "baseUrl" }}{{ end -}}
{{- if not (include "payment-links.brokers" . | fromJsonArray) }}{{ $missing = append $missing "kafka.brokers" }}{{ end -}}
{{- if or $values.ingress.enabled $values.httpRoute.enabled -}}
{{- if not $values.trustedProxies }}{{ $missing = append $missing "trustedProxies (with ingress or httpRoute)" }}{{ end -}}
{{- if and $values.networkPolicy.enabled (not $values.networkPolicy.edgeFrom) -}}
{{- $missing = append $missing "networkPolicy.edgeFrom (with ingress or httpRoute)" -}}
{{- end -}}
{{- end -}}
{{- if and $values.metrics.serviceMonitor.enabled $values.networkPolicy.enabled (not $values.networkPolicy.metricsFrom) -}}
{{- $missing = append $missing "networkPolicy.metricsFrom (with metrics.serviceMonitor)" -}}
{{- end -}}
{{- if and $values.httpRoute.enabled (not $values.httpRoute.parentRefs) }}{{ $missing = append $missing "httpRoute.parentRefs" }}{{ end -}}
{{- if and $oidc.issuer (not $oidc.clientId) }}{{ $missing = append $missing "authKeys.oidc.clientId" }}{{ end -}}
{{- $wantsOidc := or $oidc.clientId $oidc.allowedGroups (eq $values.authKeys.signUp "oidc") (has "oidc" $values.authKeys.signInMethods) -}}
{{- if and $wantsOidc (not $oidc.issuer) }}{{ $missing = append $missing "authKeys.oidc.issuer" }}{{ end -}}
{{- $chains := $values.settlementListener.chains -}}
{{- /* Otherwise the checkout would ask for payments on a chain that is not watched. */ -}}
{{- $ofChains := dict "linksApi.settlementChains" $values.linksApi.settlementChains "settlementListener.chains.settings" $chains.settings "transferChains" $values.transferChains -}}
{{- range $name, $given := $ofChains -}}
{{- if and $given (not $chains.enabled) }}{{ $missing = append $missing (printf "settlementListener.chains.enabled (with %s)" $name) }}{{ end -}}
{{- end -}}
{{- range $key := include "payment-links.services" . | fromYaml | values | sortAlpha -}}
{{- if and (index $values $key).keda.enabled (not $values.keda.prometheus.serverAddress) -}}
{{- $missing = append $missing (printf "keda.prometheus.serverAddress (with %s.keda.enabled)" $key) -}}
{{- end -}}
{{- end -}}
{{- range include "payment-links.neededSecrets" . | fromYamlArray -}}
{{- $secret := index $values.secrets . -}}
{{- $isDrawn := and $values.quickstart.enabled (not (hasSuffix "RpcUrls" .)) (ne . "smtpUrl") -}}
{{- if not (or $secret.existingSecret $secret.value $values.secrets.existingSecret $isDrawn) -}}
{{- $missing = append $missing (printf "secrets.%s" .) -}}
{{- end -}}
{{- end -}}
{{ toYaml $missing }}
{{- end -}}

{{/* The secrets that these values require. */}}
{{- define "payment-links.neededSecrets" -}}
{{- $values := .Values -}}
{{- $services := values (include "payment-links.services" . | fromYaml) | sortAlpha -}}
{{- $needed := list "internalToken" "operatorToken" "redisUrl" "webhookSecretKeys" -}}
{{- range $services }}{{ $needed = append $needed (printf "%sDatabaseUrl" .) }}{{ end -}}
{{- range without $services "authKeys" }}{{ $needed = append $needed (printf "%sOperatorToken" .) }}{{ end -}}
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
{{- if $values.email.from }}{{ $needed = append $needed "smtpUrl" }}{{ end -}}
{{ toYaml $needed }}
{{- end -}}

{{- define "payment-links.secretFaults" -}}
{{- $faults := list -}}
{{- range $name, $secret := omit .Values.secrets "existingSecret" -}}
{{- if and $secret.existingSecret $secret.value -}}
{{- $faults = append $faults (printf "secrets.%s: existingSecret and value are both set; remove one" $name) -}}
{{- end -}}
{{- end -}}
{{ toYaml $faults }}
{{- end -}}

{{- define "payment-links.workloadFaults" -}}
{{- $faults := list -}}
{{- if le (int .Values.terminationGracePeriodSeconds) (add (mulf 2 .Values.drainDelaySeconds | ceil | int) 25) -}}
{{- $faults = append $faults "terminationGracePeriodSeconds: must be more than twice drainDelaySeconds plus 25 s" -}}
{{- end -}}
{{- /* An attempt that is running at SIGTERM must finish 5 s before the process exits, to leave time to store its result. */ -}}
{{- $attemptMax := addf (mulf 2 .Values.drainDelaySeconds) 20 -}}
{{- if gt (float64 .Values.webhookDispatcher.timeoutSeconds) $attemptMax -}}
{{- $faults = append $faults (printf "webhookDispatcher.timeoutSeconds: is more than twice drainDelaySeconds plus 20 s, so a stopping pod would interrupt attempts; lower it to %v, or raise drainDelaySeconds" $attemptMax) -}}
{{- end -}}
{{- $hasIpv6 := or (has "IPv6" .Values.ipFamilies) (eq .Values.ipFamilyPolicy "RequireDualStack") -}}
{{- if and $hasIpv6 (ne .Values.listenAddress "::") -}}
{{- $faults = append $faults "listenAddress: must be \"::\" if Services have IPv6; otherwise pods do not accept it" -}}
{{- end -}}
{{- range $service, $key := include "payment-links.services" . | fromYaml -}}
{{- $values := index $.Values $key -}}
{{- range $scaler := list "autoscaling" "keda" -}}
{{- $bounds := index $values $scaler -}}
{{- if gt (int $bounds.minReplicas) (int $bounds.maxReplicas) -}}
{{- $faults = append $faults (printf "%s.%s.maxReplicas: is less than minReplicas" $key $scaler) -}}
{{- end -}}
{{- if and $bounds.enabled (not (hasKey (default dict $values.resources.requests) "cpu")) -}}
{{- $faults = append $faults (printf "%s.resources.requests.cpu: is required with %s" $key $scaler) -}}
{{- end -}}
{{- end -}}
{{- if eq $values.strategy.type "Recreate" -}}
{{- $faults = append $faults (printf "%s.strategy.type: Recreate stops all pods before it starts a new one; use rollingUpdate, with maxSurge 0 if there is no room for another pod" $key) -}}
{{- end -}}
{{- with $values.strategy.rollingUpdate -}}
{{- if eq (printf "%v+%v" .maxSurge .maxUnavailable | replace "%" "") "0+0" -}}
{{- $faults = append $faults (printf "%s.strategy.rollingUpdate: maxSurge and maxUnavailable are both 0, so no pod can be replaced" $key) -}}
{{- end -}}
{{- end -}}
{{- if and $values.autoscaling.enabled $values.keda.enabled -}}
{{- $faults = append $faults (printf "%s.keda.enabled: autoscaling.enabled scales the same pods; disable one" $key) -}}
{{- end -}}
{{- end -}}
{{- with .Values.keda.prometheus -}}
{{- if and .authModes (not .authenticationRef.name) -}}
{{- $faults = append $faults "keda.prometheus.authModes: needs keda.prometheus.authenticationRef.name" -}}
{{- end -}}
{{- end -}}
{{- with .Values.migrations -}}
{{- /* The Job waits twice: first for Secrets, then for servers. */ -}}
{{- if ge (mul 2 .waitSeconds) (int64 .activeDeadlineSeconds) -}}
{{- $faults = append $faults "migrations.waitSeconds: must be less than half of activeDeadlineSeconds, so that the Job can name what is missing" -}}
{{- end -}}
{{- end -}}
{{ toYaml $faults }}
{{- end -}}

{{/* Rejects additions to a pod that the chart already sets or that occur twice, because Kubernetes merges these lists by name. */}}
{{- define "payment-links.podFaults" -}}
{{- $faults := list -}}
{{- $services := include "payment-links.services" . | fromYaml -}}
{{- range $key := append (values $services | sortAlpha) "migrations" -}}
{{- $values := index $.Values $key -}}
{{- $isJob := eq $key "migrations" -}}
{{- $ownEnv := dict -}}
{{- range $service, $block := $services -}}
{{- if or $isJob (eq $block $key) -}}
{{- $env := include (ternary "payment-links.prepareEnv" "payment-links.ownEnvOf" $isJob) (dict "root" $ "service" $service "key" $block "inline" "inline" "values" (index $.Values $block)) -}}
{{- range fromYamlArray $env }}{{ $_ := set $ownEnv .name true }}{{ end -}}
{{- end -}}
{{- end -}}
{{- $ownContainers := ternary (concat (keys $services) (list "wait-for-secrets" "wait-for-servers")) (list) $isJob -}}
{{- range $service, $block := $services }}{{ if eq $block $key }}{{ $ownContainers = list $service }}{{ end }}{{ end -}}
{{- $containers := concat (default list $values.extraContainers) $values.extraInitContainers -}}
{{- $lists := list
  (dict "field" "extraEnv" "by" "name" "own" (keys $ownEnv) "given" $values.extraEnv)
  (dict "field" "extraVolumes" "by" "name" "own" (list "tmp" "certificates" "settings" "needs") "given" $values.extraVolumes)
  (dict "field" "extraVolumeMounts" "by" "mountPath" "own" (list "/tmp" "/etc/payment-links/certificates" "/etc/payment-links/settings") "given" $values.extraVolumeMounts)
  (dict "field" (ternary "extraInitContainers" "extraContainers and extraInitContainers" $isJob) "by" "name" "own" $ownContainers "given" $containers) -}}
{{- range $list := $lists -}}
{{- $seen := $list.own -}}
{{- range $list.given -}}
{{- $name := index . $list.by -}}
{{- if has $name $seen }}{{ $faults = append $faults (printf "%s.%s: %s is set by the chart, or given twice" $key $list.field $name) }}{{ end -}}
{{- $seen = append $seen $name -}}
{{- end -}}
{{- end -}}
{{- $volumes := list "tmp" "certificates" "settings" -}}
{{- range $values.extraVolumes }}{{ $volumes = append $volumes .name }}{{ end -}}
{{- range $values.extraVolumeMounts -}}
{{- if not (has .name $volumes) }}{{ $faults = append $faults (printf "%s.extraVolumeMounts: %s is not a volume of the pod" $key .name) }}{{ end -}}
{{- end -}}
{{- end -}}
{{- range $key := concat (values $services | sortAlpha) (list "migrations" "test") -}}
{{- with index $.Values $key -}}
{{- if and (eq .dnsPolicy "None") (not .dnsConfig.nameservers) }}{{ $faults = append $faults (printf "%s.dnsPolicy: None needs dnsConfig.nameservers" $key) }}{{ end -}}
{{- end -}}
{{- end -}}
{{ toYaml $faults }}
{{- end -}}

{{/* Allows overrides of the restricted level, except root and privileged, because no pod binds a low port or needs access to its node. */}}
{{- define "payment-links.securityFaults" -}}
{{- $faults := list -}}
{{- $blocks := dict "" .Values -}}
{{- range $key := concat (include "payment-links.services" . | fromYaml | values) (list "migrations" "test") -}}
{{- $_ := set $blocks (printf "%s." $key) (index $.Values $key) -}}
{{- end -}}
{{- range $prefix, $values := $blocks -}}
{{- range $field := list "podSecurityContext" "containerSecurityContext" -}}
{{- with index $values $field -}}
{{- if eq (toString .runAsUser) "0" -}}
{{- $faults = append $faults (printf "%s%s.runAsUser: must not be 0; no pod of the chart needs root" $prefix $field) -}}
{{- end -}}
{{- if .privileged -}}
{{- $faults = append $faults (printf "%s%s.privileged: must not be true; no pod of the chart needs access to its node" $prefix $field) -}}
{{- end -}}
{{- end -}}
{{- end -}}
{{- end -}}
{{ toYaml $faults }}
{{- end -}}

{{/* Rejects labels and annotations that the chart, Helm or Kubernetes uses to identify objects. */}}
{{- define "payment-links.metadataFaults" -}}
{{- $faults := list -}}
{{- $labels := dict "commonLabels" .Values.commonLabels -}}
{{- $annotations := dict "commonAnnotations" .Values.commonAnnotations "migrations.annotations" .Values.migrations.annotations -}}
{{- range $kind, $values := .Values.metrics -}}
{{- $_ := set $labels (printf "metrics.%s.labels" $kind) $values.labels -}}
{{- $_ := set $annotations (printf "metrics.%s.annotations" $kind) ($values.annotations | default dict) -}}
{{- end -}}
{{- range $key := concat (include "payment-links.services" . | fromYaml | values) (list "migrations" "test") -}}
{{- $values := index $.Values $key -}}
{{- $_ := set $labels (printf "%s.podLabels" $key) $values.podLabels -}}
{{- $_ := set $annotations (printf "%s.podAnnotations" $key) $values.podAnnotations -}}
{{- with $values.service -}}
{{- $_ := set $labels (printf "%s.service.labels" $key) .labels -}}
{{- $_ := set $annotations (printf "%s.service.annotations" $key) .annotations -}}
{{- end -}}
{{- with $values.serviceAccount -}}
{{- $_ := set $annotations (printf "%s.serviceAccount.annotations" $key) .annotations -}}
{{- if and .name .annotations -}}
{{- $faults = append $faults (printf "%s.serviceAccount: name and annotations are both set; annotate the existing ServiceAccount itself" $key) -}}
{{- end -}}
{{- end -}}
{{- end -}}
{{- $ownLabels := include "payment-links.ownLabels" (dict "root" $ "component" "any") | fromYaml -}}
{{- range $name, $given := $labels -}}
{{- range keys $given | sortAlpha -}}
{{- if hasKey $ownLabels . }}{{ $faults = append $faults (printf "%s: %s is set by the chart" $name .) }}{{ end -}}
{{- end -}}
{{- end -}}
{{- range $name, $given := $annotations -}}
{{- range keys $given | sortAlpha -}}
{{- if regexMatch "^(checksum/|helm[.]sh/)" . }}{{ $faults = append $faults (printf "%s: %s is reserved for the chart" $name .) }}{{ end -}}
{{- end -}}
{{- end -}}
{{ toYaml $faults }}
{{- end -}}

{{/* Rejects an origin without a route, because otherwise payers would be the first to notice. */}}
{{- define "payment-links.routeFaults" -}}
{{- $faults := list -}}
{{- if and (hasPrefix "http://" (include "payment-links.baseUrl" .)) (not .Values.allowInsecureCookie) -}}
{{- if not (include "payment-links.isOnLoopback" .) -}}
{{- $faults = append $faults "allowInsecureCookie: must be true if baseUrl is plain http on a host that is not loopback" -}}
{{- end -}}
{{- end -}}
{{- range $kind, $hosts := include "payment-links.routedHosts" . | fromYaml -}}
{{- range $origin := list "baseUrl" "checkoutUrl" -}}
{{- $host := include "payment-links.hostOf" (index $.Values $origin) -}}
{{- $wildcard := printf "*.%s" (rest (splitList "." $host) | join ".") -}}
{{- if and $host (not (has $host $hosts)) (not (has $wildcard $hosts)) -}}
{{- $faults = append $faults (printf "%s: must include %s, the host of %s" $kind $host $origin) -}}
{{- end -}}
{{- end -}}
{{- end -}}
{{- $certified := list -}}
{{- range .Values.ingress.tls }}{{ $certified = concat $certified (.hosts | default (list "all")) }}{{ end -}}
{{- range $origin := list "baseUrl" "checkoutUrl" -}}
{{- $url := index $.Values $origin -}}
{{- $host := include "payment-links.hostOf" $url -}}
{{- $wildcard := printf "*.%s" (rest (splitList "." $host) | join ".") -}}
{{- if and $.Values.ingress.enabled $certified (hasPrefix "https://" $url) -}}
{{- if not (or (has "all" $certified) (has $host $certified) (has $wildcard $certified)) -}}
{{- $faults = append $faults (printf "ingress.tls: has no certificate for %s, the host of %s" $host $origin) -}}
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
{{- $faults = append $faults (printf "%s: is not a JSON object" $name) -}}
{{- else -}}
{{- with (fromJson (default "{}" $text)).Error }}{{ $faults = append $faults (printf "%s: is not valid JSON: %s" $name .) }}{{ end -}}
{{- end -}}
{{- end -}}
{{ toYaml $faults }}
{{- end -}}

{{- define "payment-links.monitoringFaults" -}}
{{- $faults := list -}}
{{- with .Values.metrics.serviceMonitor -}}
{{- if gt (include "payment-links.milliseconds" (.scrapeTimeout | default "0s") | int64) (include "payment-links.milliseconds" .interval | int64) -}}
{{- $faults = append $faults "metrics.serviceMonitor.scrapeTimeout: is longer than interval" -}}
{{- end -}}
{{- end -}}
{{- $alerts := list -}}
{{- range $path, $_ := .Files.Glob "alerts/*.yaml" -}}
{{- range ($.Files.Get $path | fromYaml).groups }}{{ range .rules }}{{ $alerts = append $alerts .alert }}{{ end }}{{ end -}}
{{- end -}}
{{- range .Values.metrics.prometheusRule.excludeRules -}}
{{- if not (has . $alerts) }}{{ $faults = append $faults (printf "metrics.prometheusRule.excludeRules: there is no alert %s" .) }}{{ end -}}
{{- end -}}
{{ toYaml $faults }}
{{- end -}}

{{/* Converts a Prometheus duration, such as `30s`, to milliseconds. */}}
{{- define "payment-links.milliseconds" -}}
{{- $unit := regexFind "[a-z]+$" . -}}
{{- mul (trimSuffix $unit .) (get (dict "ms" 1 "s" 1000 "m" 60000 "h" 3600000) $unit) -}}
{{- end -}}

{{/*
Rejects an object that creates a Secret unless it is a hook with a lower weight than the Job, because the Job, which may need
the Secret, runs before the release's own objects are created.
*/}}
{{- define "payment-links.objectFaults" -}}
{{- $faults := list -}}
{{- if include "payment-links.usesHooks" . -}}
{{- range $index, $object := .Values.extraObjects -}}
{{- $annotations := default dict (default dict $object.metadata).annotations -}}
{{- $isBefore := and (contains "pre-install" (index $annotations "helm.sh/hook" | default "")) (lt (index $annotations "helm.sh/hook-weight" | default "0" | int) 0) -}}
{{- if and (regexMatch "Secret" $object.kind) (not $isBefore) -}}
{{- $faults = append $faults (printf "extraObjects[%d]: %s is created after the migrations Job, which may need it; move it to migrations.extraObjects" $index $object.kind) -}}
{{- end -}}
{{- end -}}
{{- end -}}
{{ toYaml $faults }}
{{- end -}}

{{/* Rejects values with which the quickstart, which has no backups, could be used for real money. */}}
{{- define "payment-links.quickstartFaults" -}}
{{- $faults := list -}}
{{- if .Values.quickstart.enabled -}}
{{- $alone := "cannot be set with quickstart, which creates its own" -}}
{{- if .Values.kafka.brokers }}{{ $faults = append $faults (printf "kafka.brokers: %s" $alone) }}{{ end -}}
{{- if .Values.kafka.sasl.mechanism }}{{ $faults = append $faults (printf "kafka.sasl.mechanism: %s" $alone) }}{{ end -}}
{{- if .Values.kafka.ssl }}{{ $faults = append $faults (printf "kafka.ssl: %s" $alone) }}{{ end -}}
{{- if .Values.secrets.existingSecret }}{{ $faults = append $faults (printf "secrets.existingSecret: %s" $alone) }}{{ end -}}
{{- range $name, $secret := omit .Values.secrets "existingSecret" "evmRpcUrls" "oidcClientSecret" "signInRpcUrls" "smtpUrl" -}}
{{- if or $secret.existingSecret $secret.value }}{{ $faults = append $faults (printf "secrets.%s: %s" $name $alone) }}{{ end -}}
{{- end -}}
{{- if not (include "payment-links.isOnLoopback" .) -}}
{{- $faults = append $faults "baseUrl: must be loopback with quickstart" -}}
{{- end -}}
{{- range list "ingress" "httpRoute" -}}
{{- if (index $.Values .).enabled }}{{ $faults = append $faults (printf "%s.enabled: cannot be combined with quickstart, which must not be public" .) }}{{ end -}}
{{- end -}}
{{- if not .Values.migrations.enabled }}{{ $faults = append $faults "migrations.enabled: must be true with quickstart" }}{{ end -}}
{{- end -}}
{{ toYaml $faults }}
{{- end -}}
