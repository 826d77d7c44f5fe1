import type { Annotations } from "../../restart/annotations.ts";

/** An annotation of Reloader where it stands, and what it means there. */
export interface ReloaderAnnotation {
  readonly name: string;
  readonly value: string;
  readonly on: "workload" | "template";
  readonly means: string;
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
  "deployment.reloader.stakater.com/pause-period": (value) => `no other restart within ${value} of the one before`,
  "deployment.reloader.stakater.com/paused-at": () => OWN_NOTE,
  "reloader.stakater.com/last-reloaded-from": () => OWN_NOTE,
  "reloader.stakater.com/rollout-strategy": () => "how Reloader restarts an Argo Rollout; nothing here",
  "reloader.stakater.com/match": () => OF_SOURCES,
  "reloader.stakater.com/ignore": () => OF_SOURCES,
};

const OFF = "nothing: it is not on";
const OWN_NOTE = "Reloader's own note; nothing here";
const OF_SOURCES = "something on a Secret or ConfigMap; nothing on a workload";

const isOn = (value: string): boolean => /^(1|t|true)$/i.test(value);

/** `secret.reloader.stakater.com/reload` and its relatives. */
const OF_KIND = /^([a-z]+)\.(exclude\.)?reloader\.stakater\.com\/(auto|reload)$/;

function meaningOf(name: string, value: string): string {
  const general = GENERAL[name];
  if (general) return general(value);
  const [, word = "", exclude, verb] = OF_KIND.exec(name) ?? [];
  const kind = KINDS[word];
  if (kind === undefined) return "nothing that is known: it counts for nothing";
  if (exclude !== undefined) return `no restart for ${kind} ${value}`;
  if (verb === "auto") return isOn(value) ? `a restart for every ${kind} that it uses` : OFF;
  return `a restart for ${kind} ${value}, ${word === "secretproviderclass" ? "where it is used" : "used or not"}`;
}

/** Those of a workload and of its pod template, in the order of their names. */
export function reloaderAnnotations(own: Annotations, template: Annotations): readonly ReloaderAnnotation[] {
  const read = (annotations: Annotations, on: ReloaderAnnotation["on"]): readonly ReloaderAnnotation[] =>
    Object.entries(annotations)
      .filter(([name]) => isReloaders(name))
      .sort(([a], [b]) => (a < b ? -1 : 1))
      .map(([name, value]) => ({ name, value, on, means: meaningOf(name, value) }));
  return [...read(own, "workload"), ...read(template, "template")];
}
