import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { parse, stringify } from "yaml";
import { controllerNeeds, type PolicyRule } from "../../src/install/permissions.ts";
import { rights } from "../../src/install/rights.ts";
import { serviceAccountUser } from "../../src/kube/impersonating.ts";
import type { KubeObject, ResourceType } from "../../src/kube/objects.ts";
import type { Kube } from "../../src/kube/port.ts";
import { serviceAccounts } from "../conformance/kinds.ts";
import { typeOf } from "../install/type-of.ts";
import { connect } from "./connect.ts";
import { eventually } from "./eventually.ts";
import { scratchFolder } from "./scratch-folder.ts";
import type { ServerName } from "./target.ts";

/** Where an operator is installed, unless somebody wants it elsewhere. */
export const SYSTEM = "keyturn-system";
/** Where one is that may look at some namespaces alone. */
export const SCOPED_HOME = "keyturn-scoped";
/** The name of the Lease in an installation. */
export const LEASE = "keyturn";

/** How an operator gets to a server, and as whom. */
export interface OperatorAccess {
  readonly kubeconfig: string;
  /** Its own, as a pod would know it; on the embedded server it finds one by itself. */
  readonly namespace?: string;
  /** For who grants it more: to act as somebody. */
  readonly account?: Account;
}

export interface Account {
  readonly namespace: string;
  readonly name: string;
}

export interface OperatorAccessWishes {
  /** All there are, where absent. */
  readonly controllers?: readonly string[];
  readonly namespace?: string;
  /** Where it may look; everywhere, where absent. */
  readonly scopedNamespaces?: readonly string[];
}

interface Server {
  readonly name: ServerName;
  /** With all rights there are. */
  readonly kubeconfig: string;
}

/**
 * What an operator of these controllers is given to work with. On a server that enforces rights, that is a ServiceAccount
 * with exactly those of an installation, from the same source as `keyturn manifests`; whoever has the same controllers in
 * the same namespace has the same one. The embedded server asks nobody for rights. Must not: grant anything by itself.
 */
export async function operatorAccess(server: Server, wishes: OperatorAccessWishes = {}): Promise<OperatorAccess> {
  if (server.name !== "real") return { kubeconfig: server.kubeconfig };
  const { controllers = [...controllerNeeds.keys()], namespace = SYSTEM, scopedNamespaces = [] } = wishes;
  const isWhole = controllers.length === controllerNeeds.size;
  // Nobody shares an account with an installation that is a story's own, which is called keyturn.
  const name = ["keyturn-of", namespace, ...(isWhole ? ["all"] : controllers)].join("-");
  const options = { name, namespace, labels: {}, controllers, scopedNamespaces, lease: LEASE };
  const kube = await connect(server.kubeconfig);
  try {
    await settle(kube, namespace);
    await apply(kube, { apiVersion: "v1", kind: "ServiceAccount", metadata: { name, namespace } });
    const granted = rights(options);
    for (const object of granted) await apply(kube, object);
    const account = { namespace, name };
    for (const role of granted) await inForce(kube, account, role);
    return { kubeconfig: await accountKubeconfig(server.kubeconfig, kube, account), namespace, account };
  } finally {
    await kube.close();
  }
}

/** A kubeconfig that speaks as a ServiceAccount, made from one with all rights. */
export async function accountKubeconfig(admin: string, kube: Kube, account: Account): Promise<string> {
  const request = {
    apiVersion: "authentication.k8s.io/v1",
    kind: "TokenRequest",
    metadata: account,
    spec: { expirationSeconds: 86_400 },
  };
  const answer = await kube.create<KubeObject>(serviceAccounts, request, { subresource: "token" });
  const { token } = answer.status as { readonly token: string };
  const config = parse(await readFile(admin, "utf8")) as { readonly users: readonly { readonly name: string }[] };
  const users = config.users.map(({ name }) => ({ name, user: { token } }));
  const file = join(scratchFolder(), "kubeconfig");
  await writeFile(file, stringify({ ...config, users }), { mode: 0o600 });
  return file;
}

/** In a namespace that a story before has taken away, once that is gone. */
async function settle(kube: Kube, name: string): Promise<void> {
  await eventually(`the namespace ${name} to be there to stay`, async () => {
    const { metadata } = await apply(kube, { apiVersion: "v1", kind: "Namespace", metadata: { name } });
    return metadata.deletionTimestamp === undefined || undefined;
  });
}

/** With a field manager of its own: what others have applied to the same object stays. */
async function apply(kube: Kube, object: KubeObject): Promise<KubeObject> {
  const { name, namespace } = object.metadata;
  const ref = { name, ...(namespace !== undefined && { namespace }) };
  // As it would be sent: what is undefined is left out.
  const body = JSON.parse(JSON.stringify(object)) as KubeObject;
  return kube.patch(typeOf(object), ref, { type: "apply", body, force: true }, { fieldManager: "keyturn-access" });
}

const accessReviews: ResourceType = {
  group: "authorization.k8s.io",
  version: "v1",
  plural: "subjectaccessreviews",
  kind: "SubjectAccessReview",
  namespaced: false,
};

/** The server learns of roles a moment after they were made: a request too early would be refused for no good reason. */
export async function inForce(kube: Kube, account: Account, { metadata, rules, kind }: KubeObject): Promise<void> {
  for (const { apiGroups, resources, resourceNames, verbs } of (rules ?? []) as readonly PolicyRule[]) {
    const [resource, subresource] = (resources[0] ?? "").split("/");
    const resourceAttributes = {
      group: apiGroups[0],
      resource,
      ...(subresource !== undefined && { subresource }),
      ...(resourceNames?.[0] !== undefined && { name: resourceNames[0] }),
      ...(metadata.namespace !== undefined && { namespace: metadata.namespace }),
      verb: verbs[0],
    };
    const review = {
      apiVersion: "authorization.k8s.io/v1",
      kind: accessReviews.kind,
      metadata: {},
      spec: { user: serviceAccountUser(account), resourceAttributes },
    };
    await eventually(`${kind} ${metadata.name} to be in force`, async () => {
      const { status } = await kube.create<KubeObject>(accessReviews, review);
      return (status as { readonly allowed: boolean }).allowed || undefined;
    });
  }
}
