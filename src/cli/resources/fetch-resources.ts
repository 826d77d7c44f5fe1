import { UsageError } from "../../base/errors.ts";
import { listAll } from "../../insight/resources/list-all.ts";
import { type ManagedResource, managedResource } from "../../insight/resources/managed-resource.ts";
import { BadRequest, NotFound, NotServed } from "../../kube/errors.ts";
import type { Kube, Selection } from "../../kube/port.ts";
import type { ManagedKind } from "../../reconcile/managed/managed-kind.ts";
import { SpecProblem } from "../../reconcile/managed/spec-problem.ts";
import type { ClusterCall } from "../open-cluster.ts";
import type { Targets } from "./target-options.ts";

/** The part of one kind that is meant, as lists and watches take it. */
export interface KindSelection {
  readonly kind: ManagedKind;
  readonly selection: Selection;
  /** Only those whose Secret is in this namespace: for kinds that have none themselves. */
  readonly secretNamespace?: string;
}

/** Where to look for the targets: one selection per kind. A name is a selection too, so that one can be watched. */
export function selectionsOf(
  targets: Targets,
  { flags, namespace }: Pick<ClusterCall, "flags" | "namespace">,
): readonly KindSelection[] {
  const { kinds, ref, labelSelector } = targets;
  return kinds.map((kind) => {
    const asked = flags.text("namespace");
    const within = ref?.namespace ?? asked ?? namespace;
    const isForAll = flags.isOn("all-namespaces") && ref?.namespace === undefined;
    const isEverywhere = !kind.type.namespaced || isForAll;
    // A name alone says which one is meant.
    const bySecret = !kind.type.namespaced && !isForAll && !ref && asked !== undefined;
    return {
      kind,
      ...(bySecret && { secretNamespace: asked }),
      selection: {
        ...(!isEverywhere && { namespace: within }),
        ...(labelSelector !== undefined && { labelSelector }),
        ...(ref && { fieldSelector: `metadata.name=${ref.name}` }),
      },
    };
  });
}

/**
 * The targets as they are now. A name that is not there is an error, and so is a kind that the cluster does not know,
 * unless it is only one of all.
 */
export async function fetchResources(
  kube: Kube,
  targets: Targets,
  selections: readonly KindSelection[],
): Promise<readonly ManagedResource[]> {
  const found: ManagedResource[] = [];
  const unknown: NotServed[] = [];
  for (const { kind, selection, secretNamespace } of selections) {
    try {
      for await (const object of listAll(kube, kind.type, selection)) {
        const resource = managedResource(kind, object);
        if (secretNamespace === undefined || secretNamespace === namespaceOfSecret(resource)) found.push(resource);
      }
    } catch (error) {
      if (error instanceof BadRequest && selection.labelSelector !== undefined) throw wrongSelector(selection, error);
      if (!(error instanceof NotServed)) throw error;
      unknown.push(error);
    }
  }
  if (unknown.length === selections.length) throw notInstalled(targets, unknown[0]);
  if (targets.ref && found.length === 0) throw notThere(targets, selections);
  return found;
}

const namespaceOfSecret = ({ spec }: ManagedResource): string | undefined =>
  spec instanceof SpecProblem ? undefined : spec.secret?.namespace;

/** Beside labels nothing in such a request is for the server to misunderstand. */
const wrongSelector = ({ labelSelector }: Selection, cause: BadRequest): UsageError =>
  new UsageError(`-l ${labelSelector}: the server does not understand it: ${cause.message}`, cause);

function notInstalled({ kinds }: Targets, cause: unknown): NotServed {
  const names = kinds.map(({ type }) => type.kind).join(", ");
  return new NotServed(
    `the cluster does not know ${names}: keyturn crds | kubectl apply --server-side -f - installs it`,
    { cause },
  );
}

function notThere({ ref, kinds }: Targets, [first]: readonly KindSelection[]): NotFound {
  const [{ type }] = kinds as readonly [ManagedKind];
  const namespace = first?.selection.namespace;
  const where = namespace === undefined ? "" : ` in namespace ${namespace}`;
  const status = `keyturn status ${type.kind.toLowerCase()}`;
  const hint =
    namespace === undefined ? `${status} lists them` : `${status} -A lists them, -n NAMESPACE looks elsewhere`;
  return new NotFound(`there is no ${type.kind} "${ref?.name}"${where} (${hint})`);
}
