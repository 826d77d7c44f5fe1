import { rndcKeyAdvice } from "../api/bind/advice.ts";
import { type KubeObject, keyOf } from "../kube/objects.ts";
import { fieldAt } from "./fields.ts";
import { Findings, type Problem } from "./problems.ts";
import {
  type ConfigLimits,
  DEFAULT_CONFIG,
  type RndcKeyConfig,
  readKeyConfig,
  readSecretRef,
} from "./rndc-key-config.ts";

/**
 * Which setting of the RNDC key counts for an instance: its own, else that of its role, else the global one, else a key
 * that is generated and not rotated. At each level the cluster goes before its provider, and `rndcKeys` before `rndcKey`
 * before `rndcSecretRef`. What counts, counts as a whole: nothing is put together from two levels, and one that cannot be
 * followed is reported, never passed over.
 */
export interface KeyHolders {
  readonly instance: KubeObject;
  /** Undefined where the instance names none that there is. */
  readonly cluster?: KubeObject | undefined;
  /** Only of a cluster that it has made: see `isMadeBy` in `provider-objects.ts`. */
  readonly provider?: KubeObject | undefined;
}

type Level = "instance" | "role" | "global" | "default";
type Setting = "rndcKeys" | "rndcKey" | "rndcSecretRef";

/** A setting, where it was found. */
export interface KeySource {
  readonly level: Level;
  readonly object: KubeObject;
  readonly setting: Setting;
  /** From the object on: `spec.global.rndcKeys`. */
  readonly field: string;
}

export interface Resolution {
  readonly level: Level;
  /** Undefined for the default, which nobody has written. */
  readonly source: KeySource | undefined;
  /** Undefined when there are problems. */
  readonly config: RndcKeyConfig | undefined;
  readonly problems: readonly Problem[];
  readonly warnings: readonly string[];
  /** Why this one, and what it goes before. */
  readonly why: string;
}

const SETTINGS: readonly Setting[] = ["rndcKeys", "rndcKey", "rndcSecretRef"];

export function resolveKey(holders: KeyHolders, limits: ConfigLimits = {}): Resolution {
  const sources = keySources(holders);
  const [source, ...others] = sources;
  if (source === undefined) {
    const why = "nobody says anything: a key is generated, and not rotated";
    return { level: "default", source, config: DEFAULT_CONFIG, problems: [], warnings: [], why };
  }
  return { ...readSource(source, limits), why: whyOf(source, others) };
}

/** Of the setting that counts. */
function readSource(source: KeySource, limits: ConfigLimits): Omit<Resolution, "why"> {
  const { level, object, setting, field } = source;
  const findings = new Findings();
  const value = fieldAt(object, field.split("."));
  const config =
    setting === "rndcSecretRef"
      ? readSecretRef(value, field, findings)
      : readKeyConfig(value, { field, findings, limits });
  adviseLevel(source, findings);
  const { problems, warnings } = findings;
  return { level, source, config: problems.length > 0 ? undefined : config, problems, warnings };
}

/** Every setting that there is for this instance, the one that counts first. */
function keySources({ instance, cluster, provider }: KeyHolders): readonly KeySource[] {
  const role = fieldAt(instance, ["spec", "role"]);
  const makers = [cluster, provider].filter((object) => object !== undefined);
  return [
    ...settingsAt("instance", instance, "spec"),
    ...(role === "primary" || role === "secondary"
      ? makers.flatMap((object) => settingsAt("role", object, `spec.${role}`))
      : []),
    ...makers.flatMap((object) => settingsAt("global", object, "spec.global")),
  ];
}

/** The settings of one level of one object, in the order in which they count. */
function settingsAt(level: Level, object: KubeObject, path: string): readonly KeySource[] {
  return SETTINGS.map((setting) => ({ level, object, setting, field: `${path}.${setting}` })).filter(
    ({ field }) => fieldAt(object, field.split(".")) !== undefined,
  );
}

/** What else stands beside the setting that counts. */
function adviseLevel({ level, object, setting, field }: KeySource, findings: Findings): void {
  const path = field.slice(0, -setting.length - 1);
  const beside = new Set(settingsAt(level, object, path).map((source) => source.setting));
  if (setting === "rndcKeys" && beside.has("rndcKey")) findings.warning(rndcKeyAdvice.ignoresKey(path));
  if (setting === "rndcSecretRef") findings.warning(rndcKeyAdvice.isDeprecated(path));
  else if (beside.has("rndcSecretRef")) findings.warning(rndcKeyAdvice.ignoresRef(path));
}

const whyOf = (source: KeySource, others: readonly KeySource[]): string =>
  others.length === 0
    ? `${describeSource(source)} is the only setting`
    : `${describeSource(source)} goes before ${others.map(describeSource).join(", ")}`;

export const describeSource = ({ field, object }: KeySource): string =>
  `${field} of ${object.kind} ${keyOf(object.metadata)}`;

/** As it stands in the status of an instance. */
export function keyChoiceOf({ level, source, config, why }: Resolution, secretName: string | undefined) {
  const isOwn = config !== undefined && config.mode !== "referenced";
  return {
    level,
    ...(source && { source: `${source.object.kind} ${keyOf(source.object.metadata)}`, field: source.field }),
    ...(config && { mode: config.mode }),
    why,
    ...(secretName !== undefined && { secretName }),
    ...(isOwn && { rotates: config.autoRotate }),
    ...(isOwn && config.autoRotate && { rotateAfter: config.rotateAfter.text }),
  };
}
