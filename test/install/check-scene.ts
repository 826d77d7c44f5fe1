import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { parse, stringify } from "yaml";
import { type Clock, systemClock } from "../../src/base/clock.ts";
import { commands } from "../../src/cli/commands.ts";
import { run } from "../../src/cli/run.ts";
import { scriptedWorld } from "../../src/cli/scripted-world.fixture.ts";
import { manifests } from "../../src/install/manifests.ts";
import { NotFound, NotServed, TooManyRequests } from "../../src/kube/errors.ts";
import { apiVersionOf, type KubeObject, type ObjectRef, type ResourceType } from "../../src/kube/objects.ts";
import type { Draft, Kube } from "../../src/kube/port.ts";
import { microTime } from "../../src/runtime/lease-record.ts";
import { customResourceDefinitions, deployments, leases, namespaces, secrets } from "../conformance/kinds.ts";
import { btp } from "../families/btp.ts";
import { cloudFoundry } from "../families/cloud-foundry.ts";
import { CloudFoundryStandIn } from "../families/cloud-foundry-stand-in.ts";
import type { Family } from "../families/family.ts";
import { ServiceManagerStandIn } from "../families/service-manager-stand-in.ts";
import type { StandIn } from "../families/stand-in.ts";
import { connect } from "../support/connect.ts";
import { eventually } from "../support/eventually.ts";
import { scratchFolder } from "../support/scratch-folder.ts";
import type { Target } from "../support/target.ts";

export const NAMESPACE = "keyturn-check";
export const CONTROLLERS = ["btp", "cloudfoundry"];

/** What `keyturn check` finds, as its JSON has it. */
export interface Found {
  readonly group: string;
  readonly level: "ok" | "hint" | "problem";
  readonly about: string;
  readonly message: string;
  readonly remedy?: string;
}

export interface Checked {
  readonly code: number;
  readonly findings: readonly Found[];
  readonly said: string;
}

export interface CheckWishes {
  readonly words?: readonly string[];
  readonly kubeconfig?: string;
  readonly clock?: Clock;
}

/**
 * A cluster on which everything is as it should be: the manifests are applied, pods run, somebody leads, and each of two
 * ProviderConfigs leads to a sandbox. Stories break one thing of it, and put it right again.
 */
export class CheckScene {
  readonly kube: Kube;
  readonly kubeconfig: string;
  readonly standIns: Readonly<Record<string, StandIn>>;
  readonly #folder = scratchFolder();
  readonly #ends: AsyncDisposableStack;
  readonly #manifests = manifests({ namespace: NAMESPACE, image: "keyturn:0", controllers: CONTROLLERS });

  static async set(target: Target): Promise<CheckScene> {
    const ends = new AsyncDisposableStack();
    try {
      const server = await target.start();
      ends.defer(() => server.stop());
      const kube = await connect(server.kubeconfig);
      ends.defer(() => kube.close());
      const serviceManager = await ServiceManagerStandIn.open();
      ends.defer(() => serviceManager.stop());
      const foundation = await CloudFoundryStandIn.open();
      ends.defer(() => foundation.stop());
      const scene = new CheckScene(
        kube,
        server.kubeconfig,
        { [btp.standIn]: serviceManager, [cloudFoundry.standIn]: foundation },
        ends,
      );
      await scene.#furnish();
      return scene;
    } catch (error) {
      await ends.disposeAsync();
      throw error;
    }
  }

  private constructor(
    kube: Kube,
    kubeconfig: string,
    standIns: Readonly<Record<string, StandIn>>,
    ends: AsyncDisposableStack,
  ) {
    this.kube = kube;
    this.kubeconfig = kubeconfig;
    this.standIns = standIns;
    this.#ends = ends;
  }

  /** `keyturn check`, in the test's own process. */
  async check({ words = [], kubeconfig = this.kubeconfig, clock = systemClock }: CheckWishes = {}): Promise<Checked> {
    const { world, said } = scriptedWorld({ clock });
    const call = ["check", "-o", "json", "-n", NAMESPACE, "--kubeconfig", kubeconfig];
    const code = await run(commands, [...call, "--controllers", CONTROLLERS.join(), ...words], world);
    const text = said.stdout + said.stderr;
    const { findings } = JSON.parse(said.stdout || '{"findings":[]}') as { readonly findings: readonly Found[] };
    return { code, findings, said: text };
  }

  /** Everything that `keyturn manifests` prints, or what of it is of one kind; applied as a user would. */
  async install(isMeant: (object: KubeObject) => boolean = () => true): Promise<void> {
    for (const object of this.#manifests.filter(isMeant)) await this.apply(object);
  }

  async apply(body: KubeObject): Promise<void> {
    const type = await this.#typeOf(body);
    const { name, namespace } = body.metadata;
    const ref = { name, ...(namespace !== undefined && { namespace }) };
    await this.kube.patch(type, ref, { type: "apply", body, force: true }, { fieldManager: "keyturn-test" });
  }

  /** An object of the installation, by kind and by how its name begins. */
  installed(kind: string, prefix = ""): KubeObject {
    const found = this.#manifests.find((object) => object.kind === kind && object.metadata.name.startsWith(prefix));
    if (!found) throw new Error(`there is no ${kind} ${prefix} in the manifests`);
    return found;
  }

  create(type: ResourceType, object: Draft<KubeObject>): Promise<KubeObject> {
    return this.kube.create<KubeObject>(type, object);
  }

  async merge(type: ResourceType, ref: ObjectRef, body: object, subresource?: string): Promise<void> {
    await this.kube.patch(type, ref, { type: "merge", body }, subresource === undefined ? {} : { subresource });
  }

  /** Gone, whatever holds it. */
  async remove(type: ResourceType, ref: ObjectRef): Promise<void> {
    await eventually(`${type.kind} ${ref.name} to be gone`, async () => {
      try {
        const left = await this.kube.delete(type, ref);
        if (left?.metadata.finalizers && type !== namespaces && type !== customResourceDefinitions) {
          await this.merge(type, ref, { metadata: { finalizers: null } });
        }
        return undefined;
      } catch (error) {
        if (error instanceof NotFound || error instanceof NotServed) return true;
        throw error;
      }
    });
  }

  /** Until the kinds are served again, and the server has said so. */
  async untilServed(): Promise<void> {
    for (const { type, configType } of [btp, cloudFoundry]) {
      for (const each of [type, configType]) {
        await eventually(`${each.plural}.${each.group} to be served`, () =>
          this.kube.list(each).catch((error: unknown) => {
            // A server asks for patience while it makes room for a kind.
            if (error instanceof NotServed || error instanceof TooManyRequests) return undefined;
            throw error;
          }),
        );
      }
    }
  }

  /** A ProviderConfig that leads to a sandbox, and the Secret with its credentials, which may say otherwise. */
  async configure(family: Family, name: string, change: object = {}): Promise<void> {
    const standIn = this.standIns[family.standIn];
    const metadata = { namespace: NAMESPACE, name: `${name}-${family.controller}` };
    const stringData = { credentials: JSON.stringify({ ...standIn?.login(standIn.url), ...change }) };
    await this.apply({ apiVersion: "v1", kind: "Secret", metadata, stringData });
    await this.apply(family.config(name, { ...metadata, key: "credentials" }) as KubeObject);
  }

  /** A Lease that somebody has renewed so long ago. */
  async lead(namespace: string, holderIdentity: string, agoMs = 0): Promise<void> {
    const renewTime = microTime(systemClock.now() - agoMs);
    const spec = { holderIdentity, renewTime, acquireTime: renewTime, leaseDurationSeconds: agoMs > 0 ? 15 : 3600 };
    await this.apply({
      apiVersion: apiVersionOf(leases),
      kind: leases.kind,
      metadata: { namespace, name: "keyturn" },
      spec,
    });
  }

  /** The kubeconfig with other words about the cluster or the user. */
  async kubeconfigWith(name: string, change: { readonly cluster?: object; readonly user?: object }): Promise<string> {
    const config = parse(await readFile(this.kubeconfig, "utf8")) as {
      readonly clusters: readonly { readonly name: string; readonly cluster: object }[];
      readonly users: readonly { readonly name: string; readonly user: object }[];
    };
    const clusters = config.clusters.map((each) => ({ ...each, cluster: { ...each.cluster, ...change.cluster } }));
    const users = config.users.map((each) => ({ ...each, user: change.user ?? each.user }));
    const path = join(this.#folder, name);
    await writeFile(path, stringify({ ...config, clusters, users }), { mode: 0o600 });
    return path;
  }

  /** Until the Deployment has pods that are available, or so many. */
  async untilAvailable(): Promise<void> {
    const ref = { namespace: NAMESPACE, name: "keyturn" };
    await eventually("the pods to be available", async () => {
      const { status } = await this.kube.get(deployments, ref);
      return (status as { readonly availableReplicas?: number } | undefined)?.availableReplicas === 2 || undefined;
    });
  }

  /** As if its pods had been available for that long. */
  async availableSince(lastTransitionTime: string): Promise<void> {
    const ref = { namespace: NAMESPACE, name: "keyturn" };
    const { status } = await this.kube.get(deployments, ref);
    const { conditions } = status as { readonly conditions: readonly { readonly type: string }[] };
    const older = conditions.map((each) => (each.type === "Available" ? { ...each, lastTransitionTime } : each));
    await this.merge(deployments, ref, { status: { conditions: older } }, "status");
  }

  /** While neither pods run nor anybody leads. */
  async withoutOperator(story: () => Promise<void>): Promise<void> {
    const ref = { namespace: NAMESPACE, name: "keyturn" };
    await this.remove(deployments, ref);
    await this.remove(leases, ref);
    try {
      await story();
    } finally {
      await this.install(({ kind }) => kind === "Deployment");
      await this.lead(NAMESPACE, "keyturn-0");
      await this.untilAvailable();
    }
  }

  async strike(): Promise<void> {
    try {
      for (const { type, configType } of [btp, cloudFoundry]) {
        for (const each of [type, configType]) {
          for (const { metadata } of (await this.kube.list(each)).items)
            await this.remove(each, { name: metadata.name });
        }
      }
      for (const object of this.#manifests.toReversed()) {
        const { name, namespace } = object.metadata;
        await this.remove(await this.#typeOf(object), { name, ...(namespace !== undefined && { namespace }) });
      }
    } finally {
      await this.#ends.disposeAsync();
    }
  }

  async #furnish(): Promise<void> {
    await this.install();
    await this.untilServed();
    await this.configure(btp, "main");
    await this.configure(cloudFoundry, "main");
    await this.lead(NAMESPACE, "keyturn-0");
    await this.untilAvailable();
    await eventually(
      "credentials to be there",
      async () => (await this.kube.list(secrets, { namespace: NAMESPACE })).items.length >= 2 || undefined,
    );
  }

  async #typeOf({ apiVersion, kind }: KubeObject): Promise<ResourceType> {
    const [version = "", group = ""] = apiVersion.split("/").reverse();
    const types = await this.kube.discover(group, version);
    const type = types.find((each) => each.kind === kind);
    if (!type) throw new Error(`the server does not serve ${kind} of ${apiVersion}`);
    return type;
  }
}
