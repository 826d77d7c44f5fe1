import { manifests } from "../../src/install/manifests.ts";
import type { PolicyRule } from "../../src/install/permissions.ts";
import { NotFound } from "../../src/kube/errors.ts";
import type { KubeObject, ObjectRef, ResourceType } from "../../src/kube/objects.ts";
import type { Kube } from "../../src/kube/port.ts";
import { serviceAccounts } from "../conformance/kinds.ts";
import { typeOf } from "../install/type-of.ts";
import { type Account, inForce } from "../support/operator-access.ts";

export interface InstallationOptions {
  readonly kube: Kube;
  /** Where the operator is installed, and where people have their accounts. */
  readonly home: string;
  /** The server asks for rights; one that does not is never waited for. */
  readonly isEnforced: boolean;
  readonly ends: AsyncDisposableStack;
}

/** What somebody may do, in one namespace or everywhere. */
export interface Grant {
  readonly namespace?: string;
  readonly rules: readonly PolicyRule[];
}

const RBAC = "rbac.authorization.k8s.io";
/** What of an installation gives an operator its rights; the rest is for the cluster to run it. */
const KINDS: ReadonlySet<string> = new Set([
  "Namespace",
  "ServiceAccount",
  "Role",
  "RoleBinding",
  "ClusterRole",
  "ClusterRoleBinding",
]);

/** The rights that `keyturn manifests --serve-dashboard` gives an operator, and people beside it with rights of their own. */
export class Installation {
  readonly home: string;
  readonly #options: InstallationOptions;

  constructor(options: InstallationOptions) {
    this.home = options.home;
    this.#options = options;
  }

  /** In force when it resolves. */
  async install(controllers: readonly string[]): Promise<Account> {
    const all = manifests({ namespace: this.home, image: "unused", controllers, dashboard: { mayChange: true } });
    const objects = all.filter(({ kind }) => KINDS.has(kind));
    const account = { namespace: this.home, name: "keyturn" };
    await this.apply(...objects);
    for (const object of objects) await this.#inForce(account, object);
    return account;
  }

  /** Somebody with an account, and what they may do; in force when it resolves. */
  async admit(name: string, ...grants: readonly Grant[]): Promise<void> {
    const account = { namespace: this.home, name };
    await this.apply({ apiVersion: "v1", kind: "ServiceAccount", metadata: account });
    for (const { namespace, rules } of grants) {
      const kind = namespace === undefined ? "ClusterRole" : "Role";
      const metadata = { name: `${this.home}-${name}`, ...(namespace !== undefined && { namespace }) };
      const role: KubeObject = { apiVersion: `${RBAC}/v1`, kind, metadata, rules };
      await this.apply(role, {
        apiVersion: `${RBAC}/v1`,
        kind: `${kind}Binding`,
        metadata,
        roleRef: { apiGroup: RBAC, kind, name: metadata.name },
        subjects: [{ kind: "ServiceAccount", ...account }],
      });
      await this.#inForce(account, role);
    }
  }

  /** What they bear, from now on not any more. */
  async dismiss(name: string): Promise<void> {
    await this.#remove(serviceAccounts, { namespace: this.home, name });
  }

  async tokenOf(name: string): Promise<string> {
    const request = {
      apiVersion: "authentication.k8s.io/v1",
      kind: "TokenRequest",
      metadata: { name, namespace: this.home },
      spec: {},
    };
    const answer = await this.#options.kube.create<KubeObject>(serviceAccounts, request, { subresource: "token" });
    return (answer.status as { readonly token: string }).token;
  }

  /** What is in no namespace of its own is taken away at the end. */
  async apply(...objects: readonly KubeObject[]): Promise<void> {
    for (const object of objects) {
      const type = typeOf(object);
      const { name, namespace } = object.metadata;
      const ref = { name, ...(namespace !== undefined && { namespace }) };
      if (!type.namespaced) this.#options.ends.defer(() => this.#remove(type, ref));
      const body = JSON.parse(JSON.stringify(object)) as KubeObject;
      const patch = { type: "apply", body, force: true } as const;
      await this.#options.kube.patch(type, ref, patch, { fieldManager: "keyturn-test" });
    }
  }

  async #inForce(account: Account, role: KubeObject): Promise<void> {
    if (this.#options.isEnforced) await inForce(this.#options.kube, account, role);
  }

  async #remove(type: ResourceType, ref: ObjectRef): Promise<void> {
    await this.#options.kube.delete(type, ref).catch((error: unknown) => {
      if (!(error instanceof NotFound)) throw error;
    });
  }
}
