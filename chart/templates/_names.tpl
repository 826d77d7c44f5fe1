{{/* What everything is called: keyturn where the release is called that too. */}}
{{- define "keyturn.fullname" -}}
{{- if .Values.fullnameOverride -}}
{{- .Values.fullnameOverride | trunc 40 | trimSuffix "-" -}}
{{- else -}}
{{- $name := default .Chart.Name .Values.nameOverride -}}
{{- if contains $name .Release.Name -}}
{{- .Release.Name | trunc 40 | trimSuffix "-" -}}
{{- else -}}
{{- printf "%s-%s" .Release.Name $name | trunc 40 | trimSuffix "-" -}}
{{- end -}}
{{- end -}}
{{- end -}}

{{- define "keyturn.selector" -}}
app.kubernetes.io/name: {{ include "keyturn.fullname" . }}
{{- end -}}

{{/* What comes from Keyturn says so: the operator and its commands look for part-of. */}}
{{- define "keyturn.labels" -}}
app.kubernetes.io/part-of: keyturn
{{ include "keyturn.selector" . }}
app.kubernetes.io/instance: {{ .Release.Name }}
app.kubernetes.io/version: {{ .Chart.AppVersion | quote }}
app.kubernetes.io/managed-by: {{ .Release.Service }}
helm.sh/chart: {{ printf "%s-%s" .Chart.Name .Chart.Version | replace "+" "_" }}
{{- with .Values.commonLabels }}
{{ toYaml . }}
{{- end }}
{{- end -}}

{{- define "keyturn.serviceAccount" -}}
{{- default (include "keyturn.fullname" .) .Values.serviceAccount.name -}}
{{- end -}}

{{- define "keyturn.image" -}}
{{- if .Values.image.digest -}}
{{ .Values.image.repository }}@{{ .Values.image.digest }}
{{- else -}}
{{ .Values.image.repository }}:{{ default .Chart.AppVersion .Values.image.tag }}
{{- end -}}
{{- end -}}

{{/* The names of the controllers that are switched on, as JSON: {"names": […]}. Groups and * are resolved, in the usual order. */}}
{{- define "keyturn.controllers" -}}
{{- $known := .Files.Get "files/controllers.yaml" | fromYaml -}}
{{- $wanted := dict -}}
{{- range .Values.controllers -}}
{{- if eq . "*" -}}
{{- range $known.order -}}{{- $_ := set $wanted . true -}}{{- end -}}
{{- else if hasKey $known.groups . -}}
{{- range get $known.groups . -}}{{- $_ := set $wanted . true -}}{{- end -}}
{{- else if hasKey $known.controllers . -}}
{{- $_ := set $wanted . true -}}
{{- else -}}
{{- fail (printf "controllers: there is no controller %q; there are %s, and the groups %s" . (join ", " $known.order) (keys $known.groups | sortAlpha | join ", ")) -}}
{{- end -}}
{{- end -}}
{{- $names := list -}}
{{- range $known.order -}}{{- if hasKey $wanted . -}}{{- $names = append $names . -}}{{- end -}}{{- end -}}
{{- if not $names -}}{{- fail "controllers: none is switched on" -}}{{- end -}}
{{- dict "names" $names | toJson -}}
{{- end -}}
