import assert from "node:assert/strict";
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { parseAllDocuments } from "yaml";
import { rotatingResource } from "../../src/api/keyturn/rotating-resource.ts";
import { rotationClass } from "../../src/api/keyturn/rotation-class.ts";
import { systemClock } from "../../src/base/clock.ts";
import { manifests } from "../../src/install/manifests.ts";
import { NotFound } from "../../src/kube/errors.ts";
import { impersonating } from "../../src/kube/impersonating.ts";
import type { KubeObject, ObjectRef, ResourceType } from "../../src/kube/objects.ts";
import type { Kube } from "../../src/kube/port.ts";
import { namespaces, secrets, serviceAccounts } from "../conformance/kinds.ts";
import { installDefinitions } from "../operator/bindings.ts";
import { certificates, ForeignControllers, installForeignKinds } from "../reconcile/foreign-kinds.ts";
import { connect } from "../support/connect.ts";
import { eventually } from "../support/eventually.ts";
import { type KeyturnOperator, startKeyturnOperator } from "../support/keyturn-operator.ts";
import { accountKubeconfig } from "../support/operator-access.ts";
import type { Target } from "../support/target.ts";

const PAGE = join(import.meta.dirname, "..", "..", "docs", "rotating-resources.md");

const rbac = (kind: string, plural: string, namespaced: boolean): ResourceType => ({
  group: "rbac.authorization.k8s.io",
  version: "v1",
  plural,
  kind,
  namespaced,
});

export const roles = rbac("Role", "roles", true);
export const roleBindings = rbac("RoleBinding", "rolebindings", true);

const TYPES: readonly ResourceType[] = [
  namespaces,
  serviceAccounts,
  roles,
  roleBindings,
  rbac("ClusterRole", "clusterroles", false),
  rbac("ClusterRoleBinding", "clusterrolebindings", false),
  rotatingResource,
  rotationClass,
];

/** What the page for RotatingResources tells an administrator and a user to write, in its order. */
async function pageManifests(): Promise<readonly KubeObject[]> {
  const blocks = [...(await readFile(PAGE, "utf8")).matchAll(/```yaml\n([\s\S]*?)```/g)];
  return blocks.flatMap(([, block = ""]) => parseAllDocuments(block).map((document) => document.toJS() as KubeObject));
}

export interface RightsStageOptions {
  /** Besides RotatingResources. */
  readonly controllers?: readonly string[];
  readonly flags?: readonly string[];
}

interface Props {
  readonly kube: Kube;
  readonly kubeconfig: string;
  readonly page: readonly KubeObject[];
  readonly ends: AsyncDisposableStack;
  readonly controllers: readonly string[];
}

/**
 * A server with the operator on it, which has exactly the rights that `keyturn manifests` gives it for its controllers,
 * and with kinds of others, whose controllers are played. Must not: give anybody a right that the page does not.
 */
export class RightsStage {
  readonly kube: Kube;
  /** With all rights there are. */
  readonly kubeconfig: string;
  readonly operatorNamespace = "keyturn-rights";
  readonly #page: readonly KubeObject[];
  readonly #ends: AsyncDisposableStack;
  readonly #others: ForeignControllers;
  readonly #teams: string[] = [];
  readonly #controllers: readonly string[];
  #operator: KeyturnOperator | undefined;

  static async set(target: Target, options: RightsStageOptions = {}): Promise<RightsStage> {
    const ends = new AsyncDisposableStack();
    const controllers = ["rotating-resource", ...(options.controllers ?? [])];
    try {
      const server = await target.start();
      ends.defer(() => server.stop());
      const kube = await connect(server.kubeconfig);
      ends.defer(() => kube.close());
      await installDefinitions(kube);
      await installForeignKinds(kube);
      await untilServed(kube);
      const page = await pageManifests();
      const stage = new RightsStage({ kube, kubeconfig: server.kubeconfig, page, ends, controllers });
      await stage.#admitOperator();
      const account = { namespace: stage.operatorNamespace, name: "keyturn" };
      const isReal = target.name === "real";
      const kubeconfig = isReal ? await accountKubeconfig(server.kubeconfig, kube, account) : server.kubeconfig;
      await stage.#startOperator(kubeconfig, options.flags ?? []);
      stage.#playOthers();
      return stage;
    } catch (error) {
      await ends.disposeAsync();
      throw error;
    }
  }

  private constructor({ kube, kubeconfig, page, ends, controllers }: Props) {
    this.kube = kube;
    this.kubeconfig = kubeconfig;
    this.#page = page;
    this.#ends = ends;
    this.#controllers = controllers;
    this.#others = new ForeignControllers(kube, systemClock);
  }

  get log(): string {
    return this.#operator?.text ?? "";
  }

  strike(): Promise<void> {
    return this.#ends.disposeAsync();
  }

  /** A namespace, in which the administrator has written what the page says, but for what is left out. */
  async admit(team: string, leftOut: readonly string[] = []): Promise<Team> {
    await this.apply({ apiVersion: "v1", kind: "Namespace", metadata: { name: team } });
    this.#ends.defer(() => this.#remove(namespaces, { name: team }));
    await this.apply(...userRights(team));
    const page = this.#page.map((object) => this.#renamed(object, team));
    const given = page.filter(
      ({ kind, metadata }) => kind !== "RotatingResource" && !leftOut.includes(`${kind} ${metadata.name}`),
    );
    assert.equal(given.length, page.length - 1 - leftOut.length, "what is left out is on the page");
    this.#ends.defer(() => this.#remove(rotationClass, { name: team }));
    await this.apply(...given);
    this.#teams.push(team);
    const resource = page.find(({ kind }) => kind === "RotatingResource") ?? assert.fail("the page shows none");
    return new Team(this, team, resource);
  }

  /** With all rights there are. */
  async apply(...objects: readonly KubeObject[]): Promise<void> {
    for (const body of objects) {
      const type = TYPES.find(({ kind }) => kind === body.kind) ?? assert.fail(`${body.kind} is not known here`);
      const { name, namespace } = body.metadata;
      const ref = { name, ...(namespace !== undefined && { namespace }) };
      await this.kube.patch(type, ref, { type: "apply", body, force: true }, { fieldManager: "keyturn-test" });
    }
  }

  /** The page speaks of the namespace shop, of an operator in keyturn-system, and of one class. */
  #renamed(object: KubeObject, team: string): KubeObject {
    const text = JSON.stringify(object)
      .replaceAll('"shop"', JSON.stringify(team))
      // Days are too long for a test.
      .replaceAll('"24h"', '"1s"')
      .replaceAll('"keyturn-system"', JSON.stringify(this.operatorNamespace))
      .replaceAll('"certificates"', JSON.stringify(object.kind === "Role" ? "certificates" : team));
    return JSON.parse(text) as KubeObject;
  }

  async #admitOperator(): Promise<void> {
    const all = manifests({ namespace: this.operatorNamespace, image: "unused", controllers: this.#controllers });
    const rights = all.filter(({ kind }) => TYPES.some((type) => type.kind === kind));
    this.#ends.defer(async () => {
      for (const { kind, metadata } of rights) {
        const type = TYPES.find((one) => one.kind === kind) ?? namespaces;
        if (!type.namespaced) await this.#remove(type, { name: metadata.name });
      }
    });
    await this.apply(...rights.map((object) => JSON.parse(JSON.stringify(object)) as KubeObject));
  }

  async #startOperator(kubeconfig: string, more: readonly string[]): Promise<void> {
    const brisk = ["--child-check", "1s", "--min-frequency", "1s", "--lease-namespace", this.operatorNamespace];
    const flags = ["--controllers", this.#controllers.join(), ...brisk, ...more];
    this.#operator = startKeyturnOperator({ kubeconfig, flags, after: (end) => this.#ends.defer(end) });
    await this.#operator.ready();
  }

  #playOthers(): void {
    const stop = new AbortController();
    const playing = (async () => {
      while (!stop.signal.aborted) {
        for (const team of this.#teams) await this.#others.work(team).catch(() => {});
        await sleep(150);
      }
    })();
    this.#ends.defer(async () => {
      stop.abort();
      await playing;
    });
  }

  async #remove(type: ResourceType, ref: ObjectRef): Promise<void> {
    try {
      await this.kube.delete(type, ref);
    } catch (error) {
      if (!(error instanceof NotFound)) throw error;
    }
  }
}

/** Jane may write RotatingResources in her namespace, and may do nothing else there. */
const userRights = (namespace: string): readonly KubeObject[] => [
  {
    apiVersion: "rbac.authorization.k8s.io/v1",
    kind: "Role",
    metadata: { name: "user", namespace },
    rules: [{ apiGroups: ["keyturn.dev"], resources: ["rotatingresources"], verbs: ["get", "create", "delete"] }],
  },
  {
    apiVersion: "rbac.authorization.k8s.io/v1",
    kind: "RoleBinding",
    metadata: { name: "user", namespace },
    roleRef: { apiGroup: "rbac.authorization.k8s.io", kind: "Role", name: "user" },
    subjects: [{ apiGroup: "rbac.authorization.k8s.io", kind: "User", name: "jane" }],
  },
];

async function untilServed(kube: Kube): Promise<void> {
  for (const type of [rotatingResource, rotationClass, certificates]) {
    const isServed = (): Promise<true | undefined> =>
      kube.list(type).then(
        () => true,
        () => undefined,
      );
    await eventually(`${type.kind} to be served`, isServed);
  }
}

type Fields = Readonly<Record<string, unknown>>;

/** One namespace, and what Jane does in it. */
export class Team {
  readonly namespace: string;
  /** The API as Jane sees it. */
  readonly jane: Kube;
  readonly #stage: RightsStage;
  readonly #manifest: KubeObject;

  constructor(stage: RightsStage, namespace: string, manifest: KubeObject) {
    this.#stage = stage;
    this.namespace = namespace;
    this.jane = impersonating(stage.kube, "jane");
    this.#manifest = manifest;
  }

  get #ref(): ObjectRef {
    return { namespace: this.namespace, name: "web" };
  }

  /** The RotatingResource of the page, with these fields of its spec. */
  write(spec: Fields = {}): Promise<KubeObject> {
    const whole = { ...(this.#manifest.spec as Fields), ...spec };
    // As soon as her rights have come round.
    return eventually("Jane to be let in", () =>
      this.jane.create<KubeObject>(rotatingResource, { ...this.#manifest, spec: whole }).catch((error: unknown) => {
        if ((error as { readonly code?: unknown }).code === "Forbidden") return undefined;
        throw error;
      }),
    );
  }

  /** As it is, seen by somebody who may see everything. */
  resource(): Promise<KubeObject> {
    return this.#stage.kube.get(rotatingResource, this.#ref);
  }

  /** An administrator's hand. */
  async annotate(annotations: Readonly<Record<string, string>>): Promise<void> {
    const body = { metadata: { annotations } };
    await this.#stage.kube.patch(rotatingResource, this.#ref, { type: "merge", body });
  }

  leave(): Promise<KubeObject | undefined> {
    return this.jane.delete(rotatingResource, this.#ref);
  }

  async isGone(): Promise<true | undefined> {
    const { items } = await this.#stage.kube.list(rotatingResource, { namespace: this.namespace });
    return items.length === 0 || undefined;
  }

  children(): Promise<readonly KubeObject[]> {
    return this.#stage.kube.list(certificates, { namespace: this.namespace }).then(({ items }) => items);
  }

  async secretNames(): Promise<readonly string[]> {
    const { items } = await this.#stage.kube.list(secrets, { namespace: this.namespace });
    return items.map(({ metadata }) => metadata.name);
  }

  async secret(name: string): Promise<KubeObject | undefined> {
    const { items } = await this.#stage.kube.list(secrets, { namespace: this.namespace });
    return items.find(({ metadata }) => metadata.name === name);
  }

  /** Waits until Synced says this. */
  async says(expected: RegExp): Promise<string> {
    let last = "";
    return eventually(`${this.namespace} to say ${expected}`, async () => {
      const { status } = await this.#stage.kube.get(rotatingResource, this.#ref);
      const { conditions = [] } = (status ?? {}) as {
        readonly conditions?: readonly Readonly<Record<string, string>>[];
      };
      const synced = conditions.find(({ type }) => type === "Synced");
      last = `${synced?.status} ${synced?.reason}: ${synced?.message ?? ""}`;
      return expected.test(last) ? last : undefined;
    }).catch((error: unknown) => assert.fail(`${error instanceof Error ? error.message : error}; it says: ${last}`));
  }

  /** Waits until no child is on its way: what is asked for while one is, that one fulfils. */
  async atRest(): Promise<void> {
    await eventually(`${this.namespace} to be at rest`, async () => {
      const { status } = await this.resource();
      const { atProvider, pending } = (status ?? {}) as { readonly atProvider?: object; readonly pending?: object };
      return (atProvider !== undefined && pending === undefined) || undefined;
    });
  }

  /** Waits until the Secret that stays the same holds what a child publishes, another one than that. */
  published(before?: string): Promise<string> {
    return eventually(`${this.namespace} to publish`, async () => {
      const stable = JSON.stringify((await this.secret("web-certificate"))?.data);
      const children = await this.children();
      for (const { metadata } of children) {
        if (metadata.name === before) continue;
        const own = JSON.stringify((await this.secret(`${metadata.name}-tls`))?.data);
        if (own !== undefined && own === stable) return metadata.name;
      }
      return undefined;
    });
  }
}
