import { cfServiceBinding } from "../../src/api/korifi/cf-service-binding.ts";
import { cfServiceInstance } from "../../src/api/korifi/cf-service-instance.ts";
import { vcapSecretName } from "../../src/korifi/names.ts";
import { apiVersionOf, type KubeObject, type ObjectRef } from "../../src/kube/objects.ts";
import type { Kube } from "../../src/kube/port.ts";
import { secretType } from "../../src/publish/secret-publisher.ts";
import { rate } from "./load.ts";
import { createNamespace } from "./many-workloads.ts";

export interface ServiceSizes {
  readonly instances: number;
  /** Whether applications have ten services each, or every binding has an application of its own. */
  readonly apps: "shared" | "own";
}

const WRITERS = 16;
const BINDINGS_EACH = 10;
/** As many as a team has: a namespace of Korifi's is a space. */
const INSTANCES_PER_SPACE = 25;

/** One service that is bound ten times, and where. */
export interface Service {
  readonly ref: Required<ObjectRef>;
  /** A namespace with the like of all that is made for it, which nobody looks after. */
  readonly twinSpace: string;
  readonly bindings: readonly BoundApp[];
}

interface BoundApp {
  readonly name: string;
  readonly appName: string;
}

export function servicesOf({ instances, apps }: ServiceSizes): readonly Service[] {
  return Array.from({ length: instances }, (_, index) => {
    const space = Math.floor(index / INSTANCES_PER_SPACE);
    const first = space * INSTANCES_PER_SPACE;
    const inSpace = Math.min(INSTANCES_PER_SPACE, instances - first);
    const bindings = Array.from({ length: BINDINGS_EACH }, (_, each) => {
      const bound = (index - first) * BINDINGS_EACH + each;
      return { name: `db-${index}-${each}`, appName: `app-${apps === "own" ? bound : bound % inSpace}` };
    });
    return { ref: { namespace: `space-${space}`, name: `db-${index}` }, twinSpace: `twin-${space}`, bindings };
  });
}

/** How often each Secret that is derived has to say the version of the credentials, by its key. */
export function derivedSecrets(services: readonly Service[]): ReadonlyMap<string, number> {
  const times = new Map<string, number>();
  for (const { ref, bindings } of services) {
    for (const { name, appName } of bindings) {
      const vcap = `${ref.namespace}/${vcapSecretName(appName)}`;
      times.set(`${ref.namespace}/${name}`, 1);
      times.set(vcap, (times.get(vcap) ?? 0) + 1);
    }
  }
  return times;
}

const VERSION = /version-\d{6}/g;
/** All as long as one another, so that a version in a text can be put in the place of another. */
export const versionText = (version: number): string => `version-${String(version).padStart(6, "0")}`;
export const versionsIn = (text: string): readonly string[] => text.match(VERSION) ?? [];
export const withVersion = (text: string, version: number): string => text.replaceAll(VERSION, versionText(version));

/** About what a database gives out, nested, with a certificate. */
export const credentialsText = ({ ref }: Service, version: number): string =>
  JSON.stringify({
    user: "app",
    password: `${versionText(version)}-${"p".repeat(20)}`,
    host: `${ref.name}.${ref.namespace}.example.com`,
    port: 5432,
    tls: { mode: "verify-full", ca: "c".repeat(600) },
  });

export const base64 = (text: string): string => Buffer.from(text).toString("base64");

export async function createServices(kube: Kube, services: readonly Service[], version: number): Promise<void> {
  const spaces = new Set(services.flatMap(({ ref, twinSpace }) => [ref.namespace, twinSpace]));
  for (const space of spaces) await createNamespace(kube, space);
  await rate(services.length, WRITERS, async (index) => {
    const service = services[index];
    if (service) await createService(kube, service, version);
  });
}

async function createService(kube: Kube, service: Service, version: number): Promise<void> {
  const { ref, bindings } = service;
  const data = { credentials: base64(credentialsText(service, version)) };
  await kube.create<KubeObject>(secretType, { apiVersion: "v1", kind: "Secret", metadata: ref, data });
  const apiVersion = apiVersionOf(cfServiceInstance);
  const { kind } = cfServiceInstance;
  const spec = { displayName: ref.name, secretName: ref.name, type: "user-provided", tags: ["sql"] };
  await kube.create<KubeObject>(cfServiceInstance, { apiVersion, kind, metadata: ref, spec });
  for (const { name, appName } of bindings) {
    await kube.create<KubeObject>(cfServiceBinding, {
      apiVersion,
      kind: cfServiceBinding.kind,
      metadata: { namespace: ref.namespace, name },
      spec: { type: "app", service: { apiVersion, kind, name: ref.name }, appRef: { name: appName } },
    });
  }
}

/** One change of the credentials, as somebody does it who has them. */
export const changeCredentials = (kube: Kube, service: Service, version: number): Promise<KubeObject> =>
  kube.patch(
    secretType,
    service.ref,
    { type: "merge", body: { data: { credentials: base64(credentialsText(service, version)) } } },
    { fieldManager: "bench" },
  );
