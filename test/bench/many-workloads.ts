import { AlreadyExists } from "../../src/kube/errors.ts";
import { apiVersionOf, type KubeObject } from "../../src/kube/objects.ts";
import type { Kube } from "../../src/kube/port.ts";
import { recordOf } from "../../src/kube/record.ts";
import { secretType } from "../../src/publish/secret-publisher.ts";
import { OWN_PREFIX } from "../../src/restart/annotations.ts";
import { deploymentType } from "../../src/restart/workload-kinds.ts";
import { namespaces } from "../conformance/kinds.ts";
import { eventually } from "../support/eventually.ts";
import { PATIENCE_MS } from "./bench-flags.ts";
import { rate } from "./load.ts";
import { listAll } from "./many-bindings.ts";

const WRITERS = 16;

/** The Secret that all Deployments of a namespace use, where they use the same one. */
export const SHARED = "shared";

export interface DeploymentWish {
  readonly namespace: string;
  readonly name: string;
  /** The Secret that it mounts. */
  readonly secret: string;
  readonly isOptedIn: boolean;
}

export async function createNamespace(kube: Kube, name: string): Promise<void> {
  try {
    await kube.create<KubeObject>(namespaces, { apiVersion: "v1", kind: "Namespace", metadata: { name } });
  } catch (error) {
    if (!(error instanceof AlreadyExists)) throw error;
  }
}

export interface SecretWish {
  readonly namespace: string;
  readonly name: string;
  /** What it says; the same content under another word is a change. */
  readonly word: string;
  readonly bytes: number;
}

/** Makes a Secret, or gives it other content. */
export async function putSecret(kube: Kube, { namespace, name, word, bytes }: SecretWish): Promise<void> {
  const metadata = { namespace, name };
  const data = { credentials: Buffer.alloc(bytes, `${namespace}/${name} ${word} `).toString("base64") };
  const body = { apiVersion: "v1", kind: secretType.kind, metadata, data };
  await kube.patch(secretType, metadata, { type: "apply", body, force: true }, { fieldManager: "bench" });
}

/** Without pods, so that what is measured is not how fast they start. */
export async function createDeployments(
  kube: Kube,
  count: number,
  wishOf: (index: number) => DeploymentWish,
): Promise<void> {
  await rate(count, WRITERS, async (index) => {
    const { namespace, name, secret, isOptedIn } = wishOf(index);
    const labels = { app: name };
    const annotations = isOptedIn ? { [`${OWN_PREFIX}/restartOnChange`]: "true" } : {};
    await kube.create<KubeObject>(deploymentType, {
      apiVersion: apiVersionOf(deploymentType),
      kind: deploymentType.kind,
      metadata: { namespace, name, labels: { ...labels, team: `team-${index % 20}` } },
      spec: {
        replicas: 0,
        selector: { matchLabels: labels },
        template: { metadata: { labels, annotations }, spec: podSpec(secret) },
      },
    });
  });
}

const podSpec = (secretName: string) => ({
  containers: [{ name: "main", image: "example.com/app:1", env: [{ name: "MODE", value: "production" }] }],
  volumes: [{ name: "credentials", secret: { secretName } }],
});

/** Waits until the server's own controllers have seen all that was written, and returns the Deployments. */
export async function deploymentsAtRest(kube: Kube): Promise<readonly KubeObject[]> {
  return eventually(
    "the Deployments to be at rest",
    async () => {
      const deployments = await listAll(kube, deploymentType);
      return deployments.every(isObserved) ? deployments : undefined;
    },
    PATIENCE_MS,
  );
}

function isObserved({ metadata, status }: KubeObject): boolean {
  const { observedGeneration } = recordOf(status);
  return typeof observedGeneration === "number" && observedGeneration >= (metadata.generation ?? 0);
}
