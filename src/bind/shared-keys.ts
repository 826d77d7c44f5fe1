import { sortedJson } from "../base/sorted-json.ts";
import type { KubeObject } from "../kube/objects.ts";
import { fieldAt } from "./fields.ts";
import { initialNameOf, keyObjects, ownSecretName, ringNameOf } from "./key-plan.ts";
import { describeSource, type KeySource, resolveKey } from "./precedence.ts";
import type { Problem } from "./problems.ts";
import type { ConfigLimits, OwnKeyConfig } from "./rndc-key-config.ts";

/**
 * Keys that are written out in the spec of a cluster or its provider: one Secret for all instances that they are for, made
 * by the cluster. Must not: let two settings write one Secret.
 */
export interface SharedKeyOptions {
  readonly cluster: KubeObject;
  readonly provider?: KubeObject | undefined;
  /** All that name the cluster, whoever has made them. */
  readonly instances: readonly KubeObject[];
}

interface SharedKey {
  readonly secretName: string;
  readonly source: KeySource;
  readonly config: OwnKeyConfig;
  readonly instances: readonly KubeObject[];
}

export interface SharedKeys {
  readonly keys: readonly SharedKey[];
  readonly problems: readonly Problem[];
}

export const sharedKeyObjects = (cluster: KubeObject, { keys }: SharedKeys): readonly KubeObject[] =>
  keys.flatMap(({ config, secretName, instances }) => keyObjects({ owner: cluster, config, secretName, instances }));

export function sharedKeys(options: SharedKeyOptions, limits: ConfigLimits = {}): SharedKeys {
  const { keys, problems, taken } = gather(options, limits);
  const isClashing = (key: SharedKey): string | undefined => clashOf(key, keys, taken);
  const clashes = keys.filter((key) => isClashing(key) !== undefined);
  return {
    keys: keys.filter((key) => !clashes.includes(key)),
    problems: [
      ...problems,
      ...clashes.map((key) => nameProblem(key.source, `the Secret ${isClashing(key)}: choose another name`)),
    ],
  };
}

interface Gathered extends SharedKeys {
  /** Secrets that instances have of their own, and whose they are. */
  readonly taken: ReadonlyMap<string, string>;
}

function gather({ cluster, provider, instances }: SharedKeyOptions, limits: ConfigLimits): Gathered {
  const keys = new Map<string, SharedKey>();
  const taken = new Map<string, string>();
  const problems = new Map<string, Problem>();
  for (const instance of [...instances].sort(byName)) {
    const { config, source, level } = resolveKey({ instance, cluster, provider }, limits);
    if (config === undefined || config.mode === "referenced") continue;
    const secretName = config.secret?.name ?? ownSecretName(instance);
    if (config.secret === undefined || source === undefined || level === "instance") {
      taken.set(secretName, `Bind9Instance ${instance.metadata.name}`);
      continue;
    }
    const known = keys.get(secretName);
    if (known === undefined || saySame(known.source, source)) {
      keys.set(secretName, {
        secretName,
        source,
        config,
        ...known,
        instances: [...(known?.instances ?? []), instance],
      });
    } else {
      const problem = nameProblem(source, `${describeSource(known.source)} has another key in a Secret of that name`);
      problems.set(problem.field, problem);
    }
  }
  return { keys: [...keys.values()], problems: [...problems.values()], taken };
}

const namesOf = (secretName: string): readonly string[] => [
  secretName,
  ringNameOf(secretName),
  initialNameOf(secretName),
];

/** A Secret that this key and something else would both write. */
function clashOf(
  { secretName }: SharedKey,
  keys: readonly SharedKey[],
  taken: ReadonlyMap<string, string>,
): string | undefined {
  const owners = [
    ...keys
      .filter((key) => key.secretName !== secretName)
      .map((key) => [key.secretName, "another shared key"] as const),
    ...taken,
  ];
  const own = new Set(namesOf(secretName));
  for (const [name, owner] of owners) {
    const both = namesOf(name).find((each) => own.has(each));
    if (both !== undefined) return `${both} would be that of ${owner} as well`;
  }
  return undefined;
}

const nameProblem = (source: KeySource, message: string): Problem => ({
  field: `${source.field}.secret.metadata.name`,
  message,
});

/** The same setting, or two that say the very same. */
const saySame = (a: KeySource, b: KeySource): boolean => textOf(a) === textOf(b);
const textOf = ({ object, field }: KeySource): string => sortedJson(fieldAt(object, field.split(".")));

const byName = (a: KubeObject, b: KubeObject): number => (a.metadata.name < b.metadata.name ? -1 : 1);
