import { isObjectName } from "../../base/object-names.ts";
import { ringNameOf } from "../../bind/key-plan.ts";
import type { RotateAfter } from "../../bind/rotate-after.ts";
import type { KubeObject } from "../../kube/objects.ts";
import type { SecretAddress } from "../../publish/secret-publisher.ts";
import { isRndcAlgorithm, type RndcAlgorithm } from "../../rndc/algorithms.ts";
import { durationOf, type Fields, fieldsOf, textOf } from "../managed/read-fields.ts";
import { SpecProblem } from "../managed/spec-problem.ts";

/** What an RndcKey says beyond what every rotated kind does. */
export interface RndcKeySpec {
  /** Where the active key is published. */
  readonly published: SecretAddress;
  /** Where all keys are, and what named reads of them. */
  readonly ring: SecretAddress;
  readonly keyName: string;
  readonly algorithm: RndcAlgorithm;
  readonly strategy: "Overlap" | "Restart";
  readonly instances: readonly string[];
  /** The Secret with the first key. */
  readonly initialKey: string | undefined;
  readonly labels: Readonly<Record<string, string>>;
  readonly annotations: Readonly<Record<string, string>>;
  /** Undefined: the key is not rotated by itself. */
  readonly rotateAfter: RotateAfter | undefined;
  /** How much earlier than due a key is replaced that was not made because one was due. */
  readonly leadMs: number;
}

const KEY_NAME = /^[A-Za-z0-9_]([A-Za-z0-9_.-]*[A-Za-z0-9_])?$/;
/** A label of a domain name, less what a suffix takes. */
const MAX_LAST_LABEL = 54;

/** Everything is checked here, though the schema has: it may be another one. Throws `SpecProblem`. */
export function readRndcKeySpec({ metadata, spec }: KubeObject): RndcKeySpec {
  const fields = fieldsOf(spec);
  const { namespace = "" } = metadata;
  const secret = fieldsOf(fields.secret);
  const name = textOf(secret.name);
  if (name === undefined || !isObjectName(name))
    throw new SpecProblem("spec.secret.name", "must be the name of a Secret");
  const { algorithm = "hmac-sha256", strategy } = fields;
  if (typeof algorithm !== "string" || !isRndcAlgorithm(algorithm)) {
    throw new SpecProblem("spec.algorithm", "must be hmac-sha224, hmac-sha256, hmac-sha384 or hmac-sha512");
  }
  if (strategy !== "Overlap" && strategy !== "Restart")
    throw new SpecProblem("spec.strategy", "must be Overlap or Restart");
  return {
    published: { namespace, name },
    ring: { namespace, name: ringNameOf(name) },
    keyName: keyNameOf(fields, strategy),
    algorithm,
    strategy,
    instances: instancesOf(fields),
    initialKey: textOf(fieldsOf(fields.initialKey).name),
    labels: textsOf(secret.labels),
    annotations: textsOf(secret.annotations),
    rotateAfter: rotateAfterOf(fields),
    leadMs: fields.lead === undefined ? 0 : durationOf("spec.lead", fields.lead),
  };
}

function keyNameOf(fields: Fields, strategy: string): string {
  const name = textOf(fields.keyName);
  if (name === undefined || !KEY_NAME.test(name)) {
    throw new SpecProblem("spec.keyName", "must be letters, digits, dots, - and _, as the name of a domain");
  }
  const labels = name.split(".");
  const isLong = strategy === "Overlap" && (labels.at(-1)?.length ?? 0) > MAX_LAST_LABEL;
  if (isLong || labels.some((label) => label === "" || label.length > 63)) {
    throw new SpecProblem(
      "spec.keyName",
      "has a part that is empty or too long: 63 characters, and 54 for the last one",
    );
  }
  return name;
}

function instancesOf({ instances }: Fields): readonly string[] {
  const names = (Array.isArray(instances) ? instances : []).filter((name) => isObjectName(String(name)));
  if (names.length === 0) throw new SpecProblem("spec.instances", "must name at least one Bind9Instance");
  return names.map(String);
}

const textsOf = (value: unknown): Readonly<Record<string, string>> =>
  Object.fromEntries(Object.entries(fieldsOf(value)).map(([name, text]) => [name, String(text)]));

function rotateAfterOf({ rotation }: Fields): RotateAfter | undefined {
  if (rotation === undefined) return undefined;
  const { frequency, interval } = fieldsOf(rotation);
  const [field, value] = frequency === undefined ? ["interval", interval] : ["frequency", frequency];
  const text = textOf(value);
  return text === undefined ? undefined : { text, ms: durationOf(`spec.rotation.${field}`, text) };
}
