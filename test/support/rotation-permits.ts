import { rotatingResource } from "../../src/api/keyturn/rotating-resource.ts";
import { rotationClass } from "../../src/api/keyturn/rotation-class.ts";
import { apiVersionOf, type KubeObject, type ResourceType } from "../../src/kube/objects.ts";
import type { Kube } from "../../src/kube/port.ts";
import { typeOf } from "../install/type-of.ts";
import { type Account, inForce } from "./operator-access.ts";

/** The ServiceAccount with whose rights children are made. */
export const ROTATOR = "rotator";

export interface Permit {
  /** Where RotatingResources may be, and the name of their class. */
  readonly namespace: string;
  readonly children: ResourceType;
  /** Who is to act as the ServiceAccount; nobody has to be told where rights are not enforced. */
  readonly operator: Account | undefined;
}

/**
 * Writes what an administrator does, so that there may be RotatingResources in a namespace and this operator may look after
 * them, as their page has it; resolves when all of it counts.
 */
export async function permitRotation(kube: Kube, permit: Permit): Promise<void> {
  const { namespace, operator } = permit;
  const rotator = { namespace, name: ROTATOR };
  await create(kube, rotationClassOf(permit));
  await create(kube, { apiVersion: "v1", kind: "ServiceAccount", metadata: rotator });
  const own = roleOf(namespace, ROTATOR, ownRules(permit));
  await create(kube, own, bindingOf(own, rotator));
  if (!operator) return;
  const acting = roleOf(namespace, `keyturn-acts-as-${ROTATOR}`, [ACTS]);
  await create(kube, acting, bindingOf(acting, operator));
  await inForce(kube, rotator, own);
  await inForce(kube, operator, acting);
}

async function create(kube: Kube, ...objects: readonly KubeObject[]): Promise<void> {
  for (const object of objects) await kube.create<KubeObject>(typeOf(object), object);
}

export const rotationClassOf = ({ namespace, children: { group, kind } }: Omit<Permit, "operator">): KubeObject => ({
  apiVersion: apiVersionOf(rotationClass),
  kind: rotationClass.kind,
  metadata: { name: namespace },
  spec: { kinds: [{ group, kind }], serviceAccounts: [ROTATOR], namespaces: [namespace], minFrequency: "1s" },
});

const ACTS = { apiGroups: [""], resources: ["serviceaccounts"], resourceNames: [ROTATOR], verbs: ["impersonate"] };

const ownRules = ({ children: { group, plural } }: Permit): readonly object[] => [
  { apiGroups: [group], resources: [plural], verbs: ["get", "list", "create", "patch", "delete"] },
  { apiGroups: [""], resources: ["secrets"], verbs: ["get", "list", "create", "update", "patch", "delete"] },
  { apiGroups: [rotatingResource.group], resources: [`${rotatingResource.plural}/finalizers`], verbs: ["update"] },
];

const RBAC = "rbac.authorization.k8s.io";

const roleOf = (namespace: string, name: string, rules: readonly object[]): KubeObject => ({
  apiVersion: `${RBAC}/v1`,
  kind: "Role",
  metadata: { namespace, name },
  rules,
});

const bindingOf = ({ apiVersion, metadata }: KubeObject, account: Account): KubeObject => ({
  apiVersion,
  kind: "RoleBinding",
  metadata,
  roleRef: { apiGroup: RBAC, kind: "Role", name: metadata.name },
  subjects: [{ kind: "ServiceAccount", ...account }],
});
