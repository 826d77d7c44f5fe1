import assert from "node:assert/strict";
import { type CustomResource, definitionOf } from "../../src/api/custom-resource.ts";
import { adviceFor, type RotatedKind } from "../../src/install/admission-policies.ts";
import type { KubeObject, ResourceType } from "../../src/kube/objects.ts";
import { type Behaviour, behaviour } from "./behaviour.ts";
import { at, refused, settles } from "./expectations.ts";
import { policies, policyBindings } from "./kinds.ts";
import type { Answer } from "./wire.ts";
import type { World } from "./world.ts";

export interface RefusedSpec {
  readonly why: string;
  readonly spec: object;
  readonly field: string;
  readonly message: RegExp;
}

/** The policy and the binding for a kind. */
type AdviceMaker = (resource: CustomResource) => readonly [KubeObject, KubeObject];

/**
 * One of Keyturn's own kinds, under a group of the run's own: its schema and its advice are only worth something if a real
 * API server takes them and says what the embedded one says.
 */
export class OwnKind {
  readonly #resource: CustomResource;
  readonly #usual: object;
  readonly #adviceFor: AdviceMaker;

  /** `usual` is what the spec of every draft begins with. */
  constructor(rotated: RotatedKind, usual: object, advice?: AdviceMaker) {
    this.#resource = rotated.resource;
    this.#usual = usual;
    this.#adviceFor = advice ?? ((resource) => adviceFor({ ...rotated, resource }));
  }

  type(world: World): Promise<ResourceType> {
    const resource = this.#resource;
    const schema = at(definitionOf(resource), "spec", "versions", 0, "schema", "openAPIV3Schema");
    return world.sharedKind(resource.plural, {
      kind: resource.kind,
      scope: "Cluster",
      hasStatus: true,
      schema: schema as Readonly<Record<string, unknown>>,
    });
  }

  draft(type: ResourceType, name: string, spec: object): KubeObject {
    return { apiVersion: `${type.group}/v1`, kind: type.kind, metadata: { name }, spec: { ...this.#usual, ...spec } };
  }

  /** What would become of it; nothing is kept. */
  async attempt(world: World, spec: object): Promise<KubeObject> {
    const type = await this.type(world);
    return world.kube.create(type, this.draft(type, world.unique("b"), spec), { dryRun: true });
  }

  /** That each of these is refused, with the field that is wrong and what is wrong with it. */
  refusals(table: readonly RefusedSpec[]): readonly Behaviour[] {
    return table.map(({ why, spec, field, message }) =>
      behaviour(`refused: ${why}`, (world) => this.refuses(world, { spec, fields: [field], message })),
    );
  }

  async refuses(
    world: World,
    { spec, ...expected }: { readonly spec: object; readonly fields: readonly string[]; readonly message: RegExp },
  ): Promise<void> {
    await refused(this.attempt(world, spec), { status: 422, code: "Invalid", ...expected });
  }

  /** The same, with the answer as it is on the wire. */
  post(world: World, type: ResourceType, spec: object): Promise<Answer> {
    const path = `/apis/${type.group}/v1/${type.plural}?dryRun=All`;
    return world.wire.post(path, this.draft(type, world.unique("b"), spec));
  }

  /** Installs the advice for the kind, and waits until the server acts on it; `surprising` is a spec that it warns of. */
  async installAdvice(world: World, surprising: object): Promise<ResourceType> {
    const type = await this.type(world);
    const { group, version } = type;
    const [policy, binding] = this.#adviceFor({ ...this.#resource, group, version });
    const name = policy.metadata.name;
    world.removeAtEnd(policyBindings, name);
    world.removeAtEnd(policies, name);
    await world.kube.patch(policies, { name }, { type: "apply", body: policy }, { fieldManager: "conformance" });
    await world.kube.patch(policyBindings, { name }, { type: "apply", body: binding }, { fieldManager: "conformance" });
    await settles(async () => {
      assert.match(warningOf(await this.post(world, type, surprising)), /Validation failed/);
    });
    return type;
  }
}

export const warningOf = ({ headers }: Answer): string => headers.warning ?? "";
