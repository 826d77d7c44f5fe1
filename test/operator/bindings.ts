import { NotFound, NotServed } from "../../src/kube/errors.ts";
import type { KubeObject, ResourceType } from "../../src/kube/objects.ts";
import type { Kube } from "../../src/kube/port.ts";
import { customResourceDefinitions } from "../conformance/kinds.ts";
import { eventually } from "../support/eventually.ts";
import type { KeyturnOperator } from "../support/keyturn-operator.ts";
import { runKeyturn } from "../support/run-keyturn.ts";

const bindings: ResourceType = {
  group: "account.btp.sap.crossplane.io",
  version: "v1alpha1",
  plural: "servicebindings",
  kind: "ServiceBinding",
  namespaced: false,
};

const ofBindings = `controllers="btp",kind="${bindings.kind}.${bindings.group}",selector=""`;

interface ConditionedObject extends KubeObject {
  readonly status?: { readonly conditions?: readonly { readonly type: string; readonly reason: string }[] };
}

/** What `keyturn crds` prints, applied as a user would. */
export async function installDefinitions(kube: Kube): Promise<void> {
  const { stdout } = await runKeyturn(["crds", "-o", "json"]);
  const { items } = JSON.parse(stdout) as { readonly items: readonly KubeObject[] };
  for (const body of items) {
    const patch = { type: "apply", body, force: true } as const;
    await kube.patch(customResourceDefinitions, { name: body.metadata.name }, patch, { fieldManager: "keyturn-test" });
  }
}

/** Takes away the CRD of bindings, and with it every binding; resolves when it is gone. */
export async function removeBindingDefinition(kube: Kube): Promise<void> {
  const ref = { name: `${bindings.plural}.${bindings.group}` };
  await eventually("the CRD to be gone", () =>
    kube.delete(customResourceDefinitions, ref).then(
      () => undefined,
      (error: unknown) => {
        if (error instanceof NotFound) return true;
        throw error;
      },
    ),
  );
}

/**
 * Makes a binding, as soon as its kind is served. It asks for more than an operator allows, which is said in its status
 * and then left at that: work that needs nothing outside, and comes to rest.
 */
export async function createBinding(kube: Kube, name: string): Promise<void> {
  const binding = {
    apiVersion: `${bindings.group}/${bindings.version}`,
    kind: bindings.kind,
    metadata: { name },
    spec: {
      rotation: { ttl: "20s", frequency: "10s" },
      forProvider: { name, serviceInstanceId: "00000000-0000-4000-8000-000000000001" },
      writeConnectionSecretToRef: { name, namespace: "default" },
    },
  };
  await eventually("bindings to be served", () =>
    kube.create<KubeObject>(bindings, binding).catch((error: unknown) => {
      if (error instanceof NotServed) return undefined;
      throw error;
    }),
  );
}

/** Waits until an operator has said in the binding's status what is wrong with it. */
export async function workedOn(kube: Kube, name: string): Promise<void> {
  await eventually(`${name} to be worked on`, async () => {
    const { status } = await kube.get<ConditionedObject>(bindings, { name });
    return status?.conditions?.some((one) => one.type === "Synced" && one.reason === "SpecProblem") || undefined;
  });
}

/** Waits until the operator's watch shows so many bindings. */
export async function knowsBindings(operator: KeyturnOperator, count: number): Promise<void> {
  const metric = `keyturn_watch_cached_objects{${ofBindings}}`;
  await operator.until(`to know ${count} bindings`, async () => (await operator.metric(metric)) === count);
}

/** How many changes of bindings the operator was told of. */
export async function changesOf(operator: KeyturnOperator, type: "added" | "deleted"): Promise<number> {
  return (await operator.metric(`keyturn_watch_events_total{${ofBindings},type="${type}"}`)) ?? 0;
}

/** How often the operator has worked on a binding of `createBinding`. */
export async function timesWorked(operator: KeyturnOperator): Promise<number> {
  return (await operator.metric('keyturn_reconciles_total{controller="btp",result="failed",code="SpecProblem"}')) ?? 0;
}

export async function deleteBinding(kube: Kube, name: string): Promise<void> {
  await kube.delete(bindings, { name });
}
