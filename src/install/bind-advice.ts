import { rndcKeyAdvice } from "../api/bind/advice.ts";
import { bind9Cluster } from "../api/bind/bind9-cluster.ts";
import { bind9Instance } from "../api/bind/bind9-instance.ts";
import { clusterBind9Provider } from "../api/bind/cluster-bind9-provider.ts";
import { LONG_ROTATE_AFTER_MS } from "../api/bind/rndc-key-fields.ts";
import { SHORT_KEY_PATTERNS } from "../api/bind/rndc-key-text.ts";
import type { CustomResource } from "../api/custom-resource.ts";
import { millisecondsOf } from "../api/duration-rules.ts";
import type { KubeObject } from "../kube/objects.ts";
import { type Advice, advicePolicy } from "./advice-policy.ts";

/** Warnings about the settings of RNDC keys, wherever they stand; `bind/rndc-key-config.ts` says the same. */
export const bindAdvicePolicies = (kinds?: readonly CustomResource[]): readonly KubeObject[] =>
  Object.values<AdvisedKind>(bindAdvised)
    .filter(({ resource }) => kinds?.includes(resource) ?? true)
    .flatMap(bindAdviceFor);

/** A kind, and the levels at which it has settings. */
interface AdvisedKind {
  readonly resource: CustomResource;
  readonly levels: readonly string[];
}

export const bindAdviceFor = ({ resource, levels }: AdvisedKind): readonly [KubeObject, KubeObject] =>
  advicePolicy(resource, { variables: [], validations: levels.flatMap(levelAdvice) });

const CLUSTER_LEVELS = ["spec.global", "spec.primary", "spec.secondary"] as const;

export const bindAdvised = {
  providers: { resource: clusterBind9Provider, levels: CLUSTER_LEVELS },
  clusters: { resource: bind9Cluster, levels: CLUSTER_LEVELS },
  instances: { resource: bind9Instance, levels: ["spec"] },
} as const satisfies Readonly<Record<string, AdvisedKind>>;

/** Whether a field is there, and all that it stands in; the spec itself always is. */
const isThere = (path: string): string => {
  const parts = path.split(".");
  return parts
    .slice(1)
    .map((_, index) => `has(object.${parts.slice(0, index + 2).join(".")})`)
    .join(" && ");
};

const unless = (...claims: readonly string[]): string => `!(${claims.join(" && ")})`;

function levelAdvice(level: string): readonly Advice[] {
  const says = (setting: string): string => isThere(`${level}.${setting}`);
  const [keys, key, ref] = [says("rndcKeys"), says("rndcKey"), says("rndcSecretRef")];
  const say = rndcKeyAdvice;
  return [
    { expression: unless(keys, key), message: say.ignoresKey(level) },
    { expression: unless(ref, `(${keys} || ${key})`), message: say.ignoresRef(level) },
    { expression: `${unless(ref)} || (${keys}) || (${key})`, message: say.isDeprecated(level) },
    ...configAdvice(`${level}.rndcKeys`, "true"),
    ...configAdvice(`${level}.rndcKey`, unless(keys)),
  ];
}

/** Of a setting that counts, as far as its own level goes. */
function configAdvice(field: string, counts: string): readonly Advice[] {
  const config = `object.${field}`;
  const has = (name: string): string => `has(${config}.${name})`;
  const rotates = `${has("autoRotate")} && ${config}.autoRotate`;
  const file = `${config}.secret.stringData['rndc.key']`;
  const hasFile = `${has("secret")} && ${has("secret.stringData")} && 'rndc.key' in ${config}.secret.stringData`;
  const isShort = SHORT_KEY_PATTERNS.map((pattern) => `${file}.matches('${pattern}')`).join(" || ");
  const isOurs = `!${has("secretRef")}`;
  const when = (...claims: readonly string[]): string => unless(isThere(field), counts, ...claims);
  const say = rndcKeyAdvice;
  return [
    {
      expression: when(
        isOurs,
        has("rotateAfter"),
        `${millisecondsOf(`${config}.rotateAfter`)} > ${LONG_ROTATE_AFTER_MS}`,
      ),
      message: say.isLong(field),
    },
    { expression: when(has("secretRef"), rotates), message: say.rotatesNothing(field) },
    { expression: when(has("secretRef"), has("secret")), message: say.ignoresSecret(field) },
    { expression: when(isOurs, has("rotateAfter"), `!(${rotates})`), message: say.isOff(field) },
    {
      expression: when(isOurs, has("overlap"), has("strategy"), `${config}.strategy == 'Restart'`),
      message: say.hasNoOverlap(field),
    },
    { expression: when(isOurs, hasFile, `(${isShort})`), message: say.isShort(field) },
  ];
}
