import { NotFound, NotServed } from "../../kube/errors.ts";
import type { KubeObject, ResourceType } from "../../kube/objects.ts";
import type { Kube } from "../../kube/port.ts";
import { secretType } from "../../publish/secret-publisher.ts";
import type { TargetFields } from "./family.ts";
import { type Fields, fieldsOf, textOf } from "./read-fields.ts";
import { ReferenceProblem, SpecProblem } from "./spec-problem.ts";

/**
 * Follows what fields refer to: the one place where objects are read because somebody named them. Problems name the field,
 * never what a Secret holds. Must not: be used for kinds in a namespace with a reference to another one.
 */
export class References {
  readonly #kube: Kube;

  constructor(kube: Kube) {
    this.#kube = kube;
  }

  async find(
    type: ResourceType,
    ref: { readonly namespace?: string; readonly name: string },
    field: string,
    signal: AbortSignal,
  ): Promise<KubeObject> {
    try {
      return await this.#kube.get(type, ref, { signal });
    } catch (error) {
      if (error instanceof NotServed) throw unknownKind(type, field, error);
      if (!(error instanceof NotFound)) throw error;
      const where = ref.namespace === undefined ? ref.name : `${ref.namespace}/${ref.name}`;
      throw new ReferenceProblem(field, `there is no ${type.kind} ${where}`, error);
    }
  }

  async secret(reference: Fields, field: string, signal: AbortSignal): Promise<KubeObject> {
    const [namespace, name] = [textOf(reference.namespace), textOf(reference.name)];
    if (namespace === undefined || name === undefined) throw new SpecProblem(field, "name and namespace are required");
    return this.find(secretType, { namespace, name }, field, signal);
  }

  /** The JSON object under one key of a Secret. */
  async secretJson(reference: Fields, field: string, signal: AbortSignal): Promise<Fields> {
    const secret = await this.secret(reference, field, signal);
    const key = textOf(reference.key) ?? "";
    const encoded = fieldsOf(secret.data)[key];
    if (typeof encoded !== "string")
      throw new ReferenceProblem(field, `the Secret ${secret.metadata.name} has no key "${key}"`);
    return jsonObject(decoded(encoded), field);
  }

  /** Every key of a Secret: what is JSON as what it means, anything else as text. */
  async secretFields(reference: Fields, field: string, signal: AbortSignal): Promise<Fields> {
    const secret = await this.secret(reference, field, signal);
    const entries = Object.entries(fieldsOf(secret.data)).map(([key, value]) => [key, meaningOf(decoded(value))]);
    return Object.fromEntries(entries) as Fields;
  }

  /** The id of what is meant outside: said outright, by the name of its object, or by that one's labels. */
  async idOf(forProvider: Fields, fields: TargetFields, signal: AbortSignal): Promise<string> {
    const { isId = () => true } = fields;
    const id = textOf(forProvider[fields.id]);
    if (id !== undefined && !isId(id)) throw new SpecProblem(targetField(forProvider, fields), noId(id));
    if (id !== undefined) return id;
    const { kind, metadata, status } = await this.#target(forProvider, fields, signal);
    const found = textOf(fieldsOf(fieldsOf(status).atProvider)[fields.statusId]);
    if (found !== undefined && isId(found)) return found;
    const where = `status.atProvider.${fields.statusId}`;
    const field = found === undefined ? `spec.forProvider.${fields.ref}` : targetField(forProvider, fields);
    const problem = found === undefined ? `no ${where} yet` : `a ${where} that is none: ${noId(found)}`;
    throw new ReferenceProblem(field, `the ${kind ?? fields.type.kind} ${metadata.name} has ${problem}`);
  }

  async #target(forProvider: Fields, fields: TargetFields, signal: AbortSignal): Promise<KubeObject> {
    const { type, id, ref, selector } = fields;
    const name = textOf(fieldsOf(forProvider[ref]).name);
    if (name !== undefined) return this.find(type, { name }, `spec.forProvider.${ref}`, signal);
    const labels = Object.entries(fieldsOf(fieldsOf(forProvider[selector]).matchLabels));
    if (labels.length === 0) throw new SpecProblem(`spec.forProvider.${id}`, `is required, or ${ref} or ${selector}`);
    const labelSelector = labels.map(([key, value]) => `${key}=${value}`).join(",");
    const field = `spec.forProvider.${selector}`;
    const items = await this.#select(type, { labelSelector, field }, signal);
    const [first, ...others] = items;
    if (!first) throw new ReferenceProblem(field, `no ${type.kind} has these labels`);
    if (others.length > 0)
      throw new ReferenceProblem(field, `${items.length} ${type.kind}s have these labels, one is needed`);
    return first;
  }

  async #select(
    type: ResourceType,
    { labelSelector, field }: { readonly labelSelector: string; readonly field: string },
    signal: AbortSignal,
  ): Promise<readonly KubeObject[]> {
    try {
      return (await this.#kube.list(type, { labelSelector, signal })).items;
    } catch (error) {
      throw error instanceof NotServed ? unknownKind(type, field, error) : error;
    }
  }
}

/** The field by which `idOf` finds what is meant. */
export function targetField(forProvider: Fields, { id, ref, selector }: TargetFields): string {
  const isNamed = textOf(fieldsOf(forProvider[ref]).name) !== undefined;
  return `spec.forProvider.${textOf(forProvider[id]) !== undefined ? id : isNamed ? ref : selector}`;
}

const MAX_ID_SHOWN = 40;

const noId = (id: string): string =>
  `${JSON.stringify(id.length <= MAX_ID_SHOWN ? id : `${id.slice(0, MAX_ID_SHOWN)}…`)} has characters that no id has`;

/** The kinds that references mean are other people's, and need not be installed. */
const unknownKind = ({ kind, plural, group }: ResourceType, field: string, cause: NotServed): ReferenceProblem =>
  new ReferenceProblem(
    field,
    `this cluster has no kind ${kind} (${plural}.${group}): install it, or say the id`,
    cause,
  );

const decoded = (value: unknown): string => Buffer.from(String(value), "base64").toString();

function meaningOf(text: string): unknown {
  try {
    return JSON.parse(text) as unknown;
  } catch {
    return text;
  }
}

/** What is not a JSON object is named by its field, never quoted: it may be a secret. */
function jsonObject(text: string, field: string): Fields {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    throw new ReferenceProblem(field, "does not hold JSON");
  }
  if (typeof value !== "object" || value === null || Array.isArray(value))
    throw new ReferenceProblem(field, "does not hold a JSON object");
  return value as Fields;
}
