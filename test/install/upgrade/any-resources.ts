import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { parseAllDocuments } from "yaml";
import { rotatingResource } from "../../../src/api/keyturn/rotating-resource.ts";
import { rotationClass } from "../../../src/api/keyturn/rotation-class.ts";
import type { KubeObject, ResourceType } from "../../../src/kube/objects.ts";
import type { Kube } from "../../../src/kube/port.ts";
import { root } from "../../../tools/run.ts";
import { namespaces, secrets, serviceAccounts } from "../../conformance/kinds.ts";
import { readPage } from "../../docs/markdown.ts";
import { certificates, installForeignKinds } from "../../reconcile/foreign-kinds.ts";
import { roleBindings, roles } from "../../rights/rights-stage.ts";
import { CertificatePlayer } from "../../soak/certificate-player.ts";
import { eventually } from "../../support/eventually.ts";

const NAMESPACE = "shop";
const TYPES: readonly ResourceType[] = [serviceAccounts, roles, roleBindings, rotationClass, rotatingResource];
/** As long as a page may be read before it is tried, and as short as a test wants it. */
const QUICK = { frequency: "6s", ttl: "10s" };

/** The page about RotatingResources as an administrator and a user follow it, and one more that is rotated every few seconds. */
export class AnyResources {
  readonly #kube: Kube;
  readonly #player: CertificatePlayer;

  static async open(kube: Kube): Promise<AnyResources> {
    await installForeignKinds(kube);
    await eventually("Certificates to be served", () => kube.list(certificates).catch(() => undefined));
    const player = new CertificatePlayer(kube);
    await player.synced();
    return new AnyResources(kube, player);
  }

  private constructor(kube: Kube, player: CertificatePlayer) {
    this.#kube = kube;
    this.#player = player;
  }

  /** Both have published. */
  async begin(): Promise<void> {
    await this.#kube.create<KubeObject>(namespaces, {
      apiVersion: "v1",
      kind: "Namespace",
      metadata: { name: NAMESPACE },
    });
    const page = pageManifests();
    const [quiet = assert.fail("the page shows no RotatingResource")] = page.filter(
      ({ kind }) => kind === rotatingResource.kind,
    );
    const quick = {
      ...quiet,
      metadata: { ...quiet.metadata, name: "quick" },
      spec: { ...(quiet.spec as object), rotation: QUICK, writeConnectionSecretToRef: { name: "quick-certificate" } },
    };
    for (const object of [...page, quick]) await this.#apply(object);
    for (const name of ["web-certificate", "quick-certificate"]) {
      await eventually(`${name} to be published`, () =>
        this.#kube.get(secrets, { namespace: NAMESPACE, name }).catch(() => undefined),
      );
    }
  }

  /** They go, and with them everything that was made for them. */
  async end(): Promise<void> {
    assert.deepEqual(this.#player.problems, []);
    for (const name of ["web", "quick"]) await this.#kube.delete(rotatingResource, { namespace: NAMESPACE, name });
    await eventually("RotatingResources and their children to go", async () => {
      const lists = [rotatingResource, certificates].map((type) => this.#kube.list(type, { namespace: NAMESPACE }));
      return (await Promise.all(lists)).every(({ items }) => items.length === 0) || undefined;
    });
  }

  async close(): Promise<void> {
    await this.#player.stop();
  }

  async #apply(body: KubeObject): Promise<void> {
    const type = TYPES.find(({ kind }) => kind === body.kind) ?? assert.fail(`${body.kind} is not known here`);
    const { name, namespace } = body.metadata;
    const ref = { name, ...(namespace !== undefined && { namespace }) };
    await this.#kube.patch(type, ref, { type: "apply", body }, { fieldManager: "kubectl" });
  }
}

/** In the order of the page; what is said there of a namespace and of the operator is so here. */
function pageManifests(): readonly KubeObject[] {
  const { blocks } = readPage(readFileSync(join(root, "docs", "rotating-resources.md"), "utf8"));
  return blocks
    .filter(({ language }) => language === "yaml")
    .flatMap(({ text }) => parseAllDocuments(text).map((document) => document.toJS() as KubeObject))
    .map((object) =>
      object.kind === rotationClass.kind
        ? { ...object, spec: { ...(object.spec as object), minFrequency: "1s" } }
        : object,
    );
}
