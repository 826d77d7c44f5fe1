import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { after, before, describe, test } from "node:test";
import { customResources } from "../../src/api/custom-resources.ts";
import { AlreadyExists, NotServed } from "../../src/kube/errors.ts";
import { apiVersionOf, type KubeObject, type ResourceType } from "../../src/kube/objects.ts";
import type { Kube } from "../../src/kube/port.ts";
import { installDefinitions } from "../operator/bindings.ts";
import { connect } from "../support/connect.ts";
import { eventually } from "../support/eventually.ts";
import { pickTarget } from "../support/pick-target.ts";
import type { RunningTarget } from "../support/target.ts";
import { exampleFiles, examples, type Manifest, manifestsOnPages } from "./manifests.ts";

/** What people copy is applied, as a server-side dry run: on the embedded server, and on a real one. */
const target = await pickTarget();

const type = (group: string, version: string, kind: string, plural: string, namespaced = true): ResourceType => ({
  group,
  version,
  kind,
  plural,
  namespaced,
});

const namespaces = type("", "v1", "Namespace", "namespaces", false);
const types: readonly ResourceType[] = [
  ...customResources,
  namespaces,
  type("", "v1", "Secret", "secrets"),
  type("", "v1", "ServiceAccount", "serviceaccounts"),
  type("apps", "v1", "Deployment", "deployments"),
  type("networking.k8s.io", "v1", "NetworkPolicy", "networkpolicies"),
  type("rbac.authorization.k8s.io", "v1", "ClusterRole", "clusterroles", false),
  type("rbac.authorization.k8s.io", "v1", "Role", "roles"),
  type("rbac.authorization.k8s.io", "v1", "RoleBinding", "rolebindings"),
];

const typeOf = ({ apiVersion, kind }: KubeObject): ResourceType =>
  types.find((each) => each.kind === kind && apiVersionOf(each) === apiVersion) ??
  assert.fail(`${apiVersion} ${kind} is of no kind that is known here`);

const manifests: readonly Manifest[] = [...examples(), ...manifestsOnPages()];

describe(`what people copy, on the ${target.name} server`, { concurrency: 1 }, () => {
  let server: RunningTarget;
  let kube: Kube;
  const made: string[] = [];
  before(async () => {
    server = await target.start();
    kube = await connect(server.kubeconfig);
    await installDefinitions(kube);
    for (const resource of customResources) await eventually(`${resource.kind} to be served`, () => isServed(resource));
    for (const name of namespacesOf(manifests)) await makeNamespace(name);
  });
  after(async () => {
    for (const name of made) await kube.delete(namespaces, { name });
    await server.stop();
  });

  const isServed = (resource: ResourceType): Promise<true | undefined> =>
    kube.list(resource, { limit: 1 }).then(
      () => true,
      (error: unknown) => {
        if (error instanceof NotServed) return undefined;
        throw error;
      },
    );

  /** An object can be tried only in a namespace that is there. */
  async function makeNamespace(name: string): Promise<void> {
    try {
      await kube.create(namespaces, { apiVersion: "v1", kind: "Namespace", metadata: { name } });
      made.push(name);
    } catch (error) {
      if (!(error instanceof AlreadyExists)) throw error;
    }
  }

  for (const { place, objects } of manifests) {
    test(`${place} is applied as it stands`, async () => {
      assert.ok(objects.length > 0, "there is something in it");
      for (const object of objects) {
        const { namespace, name } = object.metadata;
        const applied: KubeObject = await kube.patch(
          typeOf(object),
          { ...(namespace !== undefined && { namespace }), name },
          { type: "apply", body: object, force: true },
          { fieldManager: "keyturn-examples", dryRun: true, fieldValidation: "Strict" },
        );
        assert.equal(applied.metadata.name, name);
      }
    });
  }
});

const namespacesOf = (all: readonly Manifest[]): ReadonlySet<string> =>
  new Set(all.flatMap(({ objects }) => objects.flatMap(({ metadata }) => metadata.namespace ?? [])));

test("every kind has an example, and every example stands in the list of them", () => {
  const shown = new Set(examples().flatMap(({ objects }) => objects.map((each) => `${each.apiVersion} ${each.kind}`)));
  const missing = customResources
    .map((each) => `${apiVersionOf(each)} ${each.kind}`)
    .filter((kind) => !shown.has(kind));
  assert.deepEqual(missing, []);
  const list = readFileSync(join(import.meta.dirname, "..", "..", "examples", "README.md"), "utf8");
  const listed = [...list.matchAll(/^\| \[([\w-]+\.yaml)\]/gm)].map(([, name = ""]) => `examples/${name}`);
  assert.deepEqual([...listed].sort(), exampleFiles());
});
