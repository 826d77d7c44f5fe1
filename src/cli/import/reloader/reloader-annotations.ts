import { parseDuration } from "../../../base/duration.ts";
import type { Annotations } from "../../../restart/annotations.ts";
import { namesIn } from "../../../restart/reloader-rules.ts";

/** An annotation of Reloader where it stands, and what it means there. */
export interface ReloaderAnnotation {
  readonly name: string;
  readonly value: string;
  readonly on: "workload" | "template";
  readonly means: string;
  /** What of it is not understood; absent where nothing is unclear. */
  readonly problem?: string;
}

const MARK = "reloader.stakater.com/";

const isReloaders = (name: string): boolean => name.includes(MARK);

const KINDS: Readonly<Record<string, string>> = {
  secret: "Secret",
  configmap: "ConfigMap",
  secretproviderclass: "SecretProviderClass",
  secrets: "Secret",
  configmaps: "ConfigMap",
  secretproviderclasses: "SecretProviderClass",
};

const GENERAL: Readonly<Record<string, (value: string) => string>> = {
  "reloader.stakater.com/auto": (value) =>
    isOn(value) ? "a restart for every Secret, ConfigMap and SecretProviderClass that it uses" : OFF,
  "reloader.stakater.com/search": (value) =>
    value === "true" ? "a restart for what it uses and bears reloader.stakater.com/match" : OFF,
  "deployment.reloader.stakater.com/pause-period": (value) =>
    isDuration(value) ? `no other restart within ${value} of the one before` : "nothing: it is not a duration",
  "deployment.reloader.stakater.com/paused-at": () => OWN_NOTE,
  "reloader.stakater.com/last-reloaded-from": () => OWN_NOTE,
  "reloader.stakater.com/rollout-strategy": () => "how Reloader restarts an Argo Rollout; nothing here",
  "reloader.stakater.com/match": () => OF_SOURCES,
  "reloader.stakater.com/ignore": () => OF_SOURCES,
};

const OFF = "nothing: it is not on";
const NAMELESS = "nothing: it names nothing";
const UNKNOWN = "nothing that is known: it counts for nothing";
const OWN_NOTE = "Reloader's own note; nothing here";
const OF_SOURCES = "something on a Secret or ConfigMap; nothing on a workload";

function isDuration(text: string): boolean {
  try {
    parseDuration(text);
    return true;
  } catch {
    return false;
  }
}

const isOn = (value: string): boolean => /^(1|t|true)$/i.test(value);

/** `secret.reloader.stakater.com/reload` and its relatives. */
const OF_KIND = /^([a-z]+)\.(exclude\.)?reloader\.stakater\.com\/(auto|reload)$/;

function meaningOf(name: string, value: string): string {
  const general = GENERAL[name];
  if (general) return general(value);
  const [, word = "", exclude, verb] = OF_KIND.exec(name) ?? [];
  const kind = KINDS[word];
  if (kind === undefined) return UNKNOWN;
  if (verb === "auto") return isOn(value) ? `a restart for every ${kind} that it uses` : OFF;
  if (namesIn(value).length === 0) return NAMELESS;
  if (exclude !== undefined) return `no restart for ${kind} ${value}`;
  return `a restart for ${kind} ${value}, ${word === "secretproviderclass" ? "where it is used" : "used or not"}`;
}

const SWITCH = /(^|\.)reloader\.stakater\.com\/(auto|search)$/;

/** What Go takes for true or false. */
const SWITCH_WORDS = /^(1|0|t|f|true|false)$/i;

/** A name that nobody knows is a slip as often as not, and so is a switch that is neither on nor off. */
function problemOf(name: string, value: string, means: string): string | undefined {
  if (means === UNKNOWN) return `${name} is no annotation of Reloader's that is known`;
  if (means === NAMELESS) return `${name} names nothing`;
  const isUnclear = SWITCH.test(name) && !SWITCH_WORDS.test(value);
  return isUnclear ? `${name}: ${JSON.stringify(value.slice(0, 40))} is neither "true" nor "false"` : undefined;
}

/** Those of a workload and of its pod template, in the order of their names. */
export function reloaderAnnotations(own: Annotations, template: Annotations): readonly ReloaderAnnotation[] {
  const read = (annotations: Annotations, on: ReloaderAnnotation["on"]): readonly ReloaderAnnotation[] =>
    Object.entries(annotations)
      .filter(([name]) => isReloaders(name))
      .sort(([a], [b]) => (a < b ? -1 : 1))
      .map(([name, value]) => {
        const means = meaningOf(name, value);
        const problem = problemOf(name, value, means);
        return { name, value, on, means, ...(problem !== undefined && { problem }) };
      });
  return [...read(own, "workload"), ...read(template, "template")];
}
