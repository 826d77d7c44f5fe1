import type { KubeObject } from "../../kube/objects.ts";
import { type JsonObject, jsonEquals, jsonOf } from "../json.ts";
import type { ResourceDefinition } from "../registry.ts";
import { invalidValue, required } from "../schema/field-errors.ts";
import { type FieldError, invalid } from "../status-error.ts";
import { column } from "./columns.ts";
import { defineKind } from "./define-kind.ts";
import { humanAge } from "./human-duration.ts";
import { asNumber, asObject, asText } from "./json-fields.ts";
import { FIELD_IS_IMMUTABLE } from "./metadata-validation.ts";
import { qualifiedName } from "./names.ts";

/** Events, served twice and stored once: as core Events, in which form events.k8s.io ones are kept too. */
const REFERENCE_FIELDS = ["kind", "namespace", "name", "uid", "apiVersion", "resourceVersion", "fieldPath"];

const columns = [
  column("Last Seen", lastSeen),
  column("Type", (event) => asText(event.type)),
  column("Reason", (event) => asText(event.reason)),
  column("Object", (event) => {
    const { kind, name } = regarding(event);
    return asText(name) === "" ? asText(kind).toLowerCase() : `${asText(kind).toLowerCase()}/${asText(name)}`;
  }),
  column("Subobject", (event) => asText(regarding(event).fieldPath), { wide: true }),
  column("Source", sourceText, { wide: true }),
  column("Message", (event) => asText(event.message ?? event.note).trim()),
  column("First Seen", firstSeen, { wide: true }),
  column("Count", countOf, { wide: true }),
  { ...column("Name", (event) => event.metadata.name, { wide: true }), format: "name" },
];

export const eventDefinition = (): ResourceDefinition =>
  defineKind({
    plural: "events",
    kind: "Event",
    shortNames: ["ev"],
    createsOnUpdate: true,
    checksFinalizerDomains: false,
    columns,
    validateName: () => [],
    selectableFields: [
      ...REFERENCE_FIELDS.map((field) => `involvedObject.${field}`),
      "reason",
      "reportingComponent",
      "source",
      "type",
    ],
    applyDefaults: (event) => withFixedFields(event),
    validateCreate: (event) => legacyErrors(event, "reportingComponent"),
    validateUpdate: (event) => legacyErrors(event, "reportingComponent"),
  });

export const newEventDefinition = (): ResourceDefinition =>
  defineKind({
    group: "events.k8s.io",
    plural: "events",
    kind: "Event",
    shortNames: ["ev"],
    createsOnUpdate: true,
    checksFinalizerDomains: false,
    columns,
    storageKey: "events",
    conversion: { toStored, fromStored },
    selectableFields: [
      ...REFERENCE_FIELDS.map((field) => `regarding.${field}`),
      "reason",
      "reportingController",
      "type",
    ],
    validateCreate: (event) =>
      refused(event, [...legacyErrors(toStored(event), "reportingController"), ...strictErrors(event)]),
    validateUpdate: (event, old) =>
      refused(event, [
        ...legacyErrors(toStored(event), "reportingController"),
        ...changeErrors(toStored(event), toStored(old)),
      ]),
  });

/** The server names the stored kind when it refuses one, so the refusal is made here. */
function refused(event: KubeObject, errors: readonly FieldError[]): readonly FieldError[] {
  if (errors.length > 0) throw invalid({ group: "", kind: "Event" }, event.metadata.name ?? "", errors);
  return errors;
}

const RENAMED: readonly (readonly [stored: string, served: string])[] = [
  ["involvedObject", "regarding"],
  ["message", "note"],
  ["source", "deprecatedSource"],
  ["firstTimestamp", "deprecatedFirstTimestamp"],
  ["lastTimestamp", "deprecatedLastTimestamp"],
  ["count", "deprecatedCount"],
  ["reportingComponent", "reportingController"],
];

function toStored(event: KubeObject): KubeObject {
  const names = new Map(RENAMED.map(([stored, served]) => [served, stored]));
  const renamed = Object.entries(event).map(([key, value]) => [names.get(key) ?? key, value]);
  const stored = Object.fromEntries(renamed) as KubeObject;
  return withFixedFields({ ...stored, apiVersion: "v1" });
}

function fromStored(event: KubeObject): KubeObject {
  const names = new Map<string, string>(RENAMED.map(([stored, served]) => [stored, served]));
  const renamed = Object.entries(event).map(([key, value]) => [names.get(key) ?? key, value]);
  return { ...(Object.fromEntries(renamed) as KubeObject), apiVersion: "events.k8s.io/v1" };
}

/** Core Events always carry these, empty if need be. */
const withFixedFields = (event: KubeObject): KubeObject => ({
  ...event,
  eventTime: event.eventTime ?? null,
  firstTimestamp: event.firstTimestamp ?? null,
  lastTimestamp: event.lastTimestamp ?? null,
  source: asObject(event.source),
  reportingComponent: asText(event.reportingComponent),
  reportingInstance: asText(event.reportingInstance),
});

/** What holds for both versions; fields are those of the stored form. */
function legacyErrors(event: KubeObject, controllerField: string): FieldError[] {
  const own = event.metadata.namespace ?? "";
  const other = asText(asObject(event.involvedObject).namespace);
  const mismatch = invalidValue("involvedObject.namespace", other, "does not match event.namespace");
  if (!event.eventTime) {
    const isFine = other === "" ? own === "" || own === "default" : own === other;
    return isFine ? [] : [mismatch];
  }
  const errors: FieldError[] = other === "" && own !== "default" && own !== "kube-system" ? [mismatch] : [];
  const controller = asText(event.reportingComponent);
  if (controller === "") errors.push(required(controllerField));
  errors.push(...qualifiedName(controller).map((reason) => invalidValue(controllerField, controller, reason)));
  for (const [field, limit] of [
    ["reportingInstance", 128],
    ["action", 128],
    ["reason", 128],
  ] as const) {
    const text = asText(event[field]);
    if (text === "") errors.push(required(field));
    if (text.length > limit) errors.push(invalidValue(field, "", `can have at most ${limit} characters`));
  }
  const note = asText(event.message);
  if (Buffer.byteLength(note) > 1024) errors.push(invalidValue("message", "", "can have at most 1024 characters"));
  return errors;
}

/** What happened does not change: only a series goes on. */
function changeErrors(event: KubeObject, old: KubeObject): FieldError[] {
  return FIXED_FIELDS.flatMap(([field, shown = field]) => {
    const [now, before] = [jsonOf(event)[field], jsonOf(old)[field]];
    return jsonEquals(now, before) ? [] : [invalidValue(shown, now ?? "", FIELD_IS_IMMUTABLE)];
  });
}

const FIXED_FIELDS: readonly (readonly [field: string, shown?: string])[] = [
  ["involvedObject"],
  ["reason"],
  ["message"],
  ["source"],
  ["firstTimestamp"],
  ["lastTimestamp"],
  ["count"],
  ["type"],
  ["eventTime"],
  ["action"],
  ["related"],
  ["reportingComponent", "reportingController"],
  ["reportingInstance"],
];

function strictErrors(event: KubeObject): FieldError[] {
  const errors: FieldError[] = [];
  const series = event.series === undefined ? undefined : asObject(event.series);
  if (series && asNumber(series.count) < 2) errors.push(invalidValue("series.count", "", "should be at least 2"));
  if (series && !series.lastObservedTime) errors.push(required("series.lastObservedTime"));
  if (!event.eventTime) errors.push(required("eventTime"));
  if (event.type !== "Normal" && event.type !== "Warning") {
    errors.push(invalidValue("type", "", `has invalid value: ${asText(event.type)}`));
  }
  const unset: readonly (readonly [string, string])[] = [
    ["deprecatedFirstTimestamp", "firstTimestamp"],
    ["deprecatedLastTimestamp", "lastTimestamp"],
    ["deprecatedCount", "count"],
  ];
  for (const [field, shown] of unset) if (event[field]) errors.push(invalidValue(shown, "", "needs to be unset"));
  const source = asObject(event.deprecatedSource);
  if (source.component || source.host) errors.push(invalidValue("source", "", "needs to be unset"));
  return errors;
}

function regarding(event: KubeObject): JsonObject {
  return asObject(event.involvedObject ?? event.regarding);
}

function firstSeen(event: KubeObject, nowAt: number): string {
  return humanAge(event.firstTimestamp ?? event.deprecatedFirstTimestamp ?? event.eventTime, nowAt);
}

function lastSeen(event: KubeObject, nowAt: number): string {
  const { lastObservedTime } = asObject(event.series);
  if (lastObservedTime !== undefined) return humanAge(lastObservedTime, nowAt);
  const last = event.lastTimestamp ?? event.deprecatedLastTimestamp;
  return last === undefined || last === null ? firstSeen(event, nowAt) : humanAge(last, nowAt);
}

function countOf(event: KubeObject): number {
  if (event.series !== undefined) return asNumber(asObject(event.series).count);
  return asNumber(event.count ?? event.deprecatedCount) || 1;
}

function sourceText(event: KubeObject): string {
  const source = asObject(event.source ?? event.deprecatedSource);
  const component = asText(source.component) || asText(event.reportingComponent ?? event.reportingController);
  const host = asText(source.host) || asText(event.reportingInstance);
  return host === "" ? component : `${component}, ${host}`;
}
