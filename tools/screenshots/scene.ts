import { definitionOf } from "../../src/api/custom-resource.ts";
import { customResources } from "../../src/api/custom-resources.ts";
import { rndcKey } from "../../src/api/keyturn/rndc-key.ts";
import { rotatingResource } from "../../src/api/keyturn/rotating-resource.ts";
import { formatInstant } from "../../src/base/instant.ts";
import type { ManualClock } from "../../src/base/manual-clock.ts";
import { ownName } from "../../src/base/own-names.ts";
import { embeddedCluster } from "../../src/embedded/embedded-cluster.fixture.ts";
import type { State } from "../../src/engine/model.ts";
import { apiVersionOf, type KubeObject, type ResourceType } from "../../src/kube/objects.ts";
import type { Draft, Kube } from "../../src/kube/port.ts";
import { secretType } from "../../src/publish/secret-publisher.ts";
import type { ManagedKind } from "../../src/reconcile/managed/managed-kind.ts";
import { managedKinds } from "../../src/reconcile/managed-kinds.ts";
import { markMetadata } from "../../src/reconcile/parents/child-marks.ts";
import { STATE_MANAGER } from "../../src/restart/annotations.ts";
import { crdType } from "../../src/runtime/operator.ts";
import { namespaces } from "../../test/conformance/kinds.ts";
import { btp } from "../../test/families/btp.ts";
import { cloudFoundry } from "../../test/families/cloud-foundry.ts";
import { rotatingKeys } from "../../test/families/rotating-keys.ts";
import { CAST, type Credential } from "./cast.ts";
import { type CastKey, castKeys, castState } from "./cast-state.ts";
import { restartState, WORKLOADS, workloadManifest } from "./workloads.ts";

/** An embedded API with the cast in it, on a clock that stands still. */
export interface Scene {
  readonly kube: Kube;
  readonly clock: ManualClock;
  stop(): Promise<void>;
}

const HOUR_MS = 3_600_000;
const YEAR_MS = 365 * 24 * HOUR_MS;
const INSTANCE_ID = "00000000-0000-4000-8000-000000000001";

/** All of it as it would be at this instant, made in the order in which it came to be. */
export async function raiseScene(now: number): Promise<Scene> {
  const { kube, clock, server } = embeddedCluster(now - YEAR_MS);
  server.start();
  for (const resource of customResources) await kube.create<KubeObject>(crdType, definitionOf(resource));
  for (const name of new Set([...CAST.map(({ namespace }) => namespace), "keyturn-system"])) {
    await kube.create<KubeObject>(namespaces, { apiVersion: "v1", kind: "Namespace", metadata: { name } });
  }
  const happenings = [
    ...CAST.map((credential) => ({
      at: now - credential.age * HOUR_MS,
      make: () => putCredential(kube, credential, now),
    })),
    ...WORKLOADS.map((workload) => ({
      at: now - workload.age * HOUR_MS,
      make: async () => {
        const { type, manifest } = workloadManifest(workload);
        const made = await kube.create<KubeObject>(type, manifest);
        if (!workload.isOptedIn) return;
        const { apiVersion, kind } = made;
        const { namespace = "", name } = made.metadata;
        const state = restartState(made, workload, clock.now());
        const body = { apiVersion, kind, ...state };
        await kube.patch(type, { namespace, name }, { type: "apply", body }, { fieldManager: STATE_MANAGER });
      },
    })),
  ].sort((a, b) => a.at - b.at);
  for (const { at, make } of happenings) {
    if (at > clock.now()) clock.jump(at - clock.now());
    await make();
    // Pods get ready within a moment.
    await clock.advance(2000);
  }
  clock.jump(now - clock.now());
  return { kube, clock, stop: () => server.stop() };
}

async function putCredential(kube: Kube, credential: Credential, now: number): Promise<void> {
  const kind = kindOf(credential);
  const made = await kube.create<KubeObject>(kind.type, manifestOf(credential));
  const keys = castKeys(credential, now);
  const state = castState(credential, keys, now);
  const own =
    credential.kind === "RotatingCredentialBinding" ? await putChildren(kube, made, credential, state) : state;
  await putStatus(kube, kind, made, { credential, state: own });
  const [active] = keys;
  if (active) await putSecret(kube, credential, made, active, own);
}

interface Standing {
  readonly credential: Credential;
  readonly state: State;
}

/** In the words of its kind. */
async function putStatus(
  kube: Kube,
  kind: ManagedKind,
  object: KubeObject,
  { credential, state }: Standing,
): Promise<void> {
  const { policy } = kind.readSpec(object);
  const since = formatInstant(state.active?.createdAt ?? 0);
  const usual = [
    { type: "Ready", status: "True", reason: "Available", lastTransitionTime: since },
    { type: "Synced", status: "True", reason: "ReconcileSuccess", lastTransitionTime: since },
  ];
  const { trouble } = credential;
  const conditions = trouble
    ? [
        ...usual.filter(({ type }) => type !== trouble.type),
        { ...trouble, status: trouble.type === "Synced" ? "False" : "True", lastTransitionTime: since },
      ]
    : usual;
  const { name, namespace } = object.metadata;
  const ref = { name, ...(namespace !== undefined && { namespace }) };
  const annotations = { "crossplane.io/external-name": state.active?.id ?? "" };
  const named = await kube.patch(kind.type, ref, { type: "merge", body: { metadata: { annotations } } });
  const status = { ...kind.statusOf(state, policy), conditions };
  await kube.replace<KubeObject>(kind.type, { ...named, status }, { subresource: "status" });
}

/** What a parent's keys are; they have ids of the server's giving. */
async function putChildren(kube: Kube, parent: KubeObject, credential: Credential, state: State): Promise<State> {
  const kind = kindNamed("ServiceCredentialBinding");
  const { uid = "", name } = parent.metadata;
  const ids = new Map<string, string>();
  for (const key of [...state.retired, ...(state.active ? [state.active] : [])]) {
    const sequence = key === state.active ? state.sequence : state.sequence - 1;
    const marks = markMetadata({ clusterId: "c", ownerUid: uid, ownerKind: parent.kind, ownerName: name, sequence });
    const owner = { apiVersion: parent.apiVersion, kind: parent.kind, name, uid, controller: true };
    const draft = cloudFoundry.manifest({
      name: key.name,
      instanceId: INSTANCE_ID,
      config: "default",
      secretRef: { namespace: credential.namespace, name: key.name },
    });
    const metadata = { ...draft.metadata, ...marks, ownerReferences: [owner], finalizers: [ownName("keys")] };
    const made = await kube.create<KubeObject>(kind.type, { ...draft, metadata } as Draft<KubeObject>);
    ids.set(key.id, made.metadata.uid ?? "");
    const single = { id: key.id, name: key.name, createdAt: key.createdAt, sequence: 1, madeFrom: "0" };
    const own: State = { ...state, active: single, sequence: 1, retired: [], pending: undefined, history: [] };
    await putStatus(kube, kind, made, { credential, state: own });
  }
  const idOf = <T extends { readonly id: string }>(key: T): T => ({ ...key, id: ids.get(key.id) ?? key.id });
  return {
    ...state,
    active: state.active && idOf(state.active),
    retired: state.retired.map(idOf),
    history: state.history.map((entry) => ({ ...entry, keyId: ids.get(entry.keyId) ?? entry.keyId })),
  };
}

async function putSecret(
  kube: Kube,
  { namespace, name }: Credential,
  owner: KubeObject,
  key: CastKey,
  state: State,
): Promise<void> {
  await kube.create<KubeObject>(secretType, {
    apiVersion: "v1",
    kind: "Secret",
    metadata: {
      namespace,
      name,
      labels: { [ownName("owner-uid")]: owner.metadata.uid ?? "" },
      ownerReferences: [
        { apiVersion: owner.apiVersion, kind: owner.kind, name: owner.metadata.name, uid: owner.metadata.uid ?? "" },
      ],
      annotations: {
        [ownName("key-id")]: state.active?.id ?? "",
        [ownName("sequence")]: String(state.active?.sequence ?? 0),
        [ownName("published-at")]: formatInstant(key.createdAt),
        [ownName("fingerprint")]: `a.${key.id.replaceAll("-", "").slice(0, 24)}`,
      },
    },
  });
}

const kindNamed = (name: string): ManagedKind => {
  const kind = managedKinds.find(({ type }) => type.kind === name);
  if (!kind) throw new Error(`there is no kind ${name}`);
  return kind;
};

const kindOf = ({ kind }: Credential): ManagedKind => kindNamed(kind);

const FAMILIES = {
  ServiceBinding: btp,
  ServiceCredentialBinding: cloudFoundry,
  RotatingCredentialBinding: rotatingKeys,
};

function manifestOf(credential: Credential): Draft<KubeObject> {
  const { kind, name, namespace, every, ttl, windows, heldFor } = credential;
  const rotation =
    every === undefined
      ? undefined
      : {
          frequency: `${every}h`,
          ttl: `${ttl}h`,
          ...(windows && { windows }),
          ...(heldFor !== undefined && { revoke: "AfterConsumers" }),
        };
  const annotations = {
    ...(credential.isFrozen && { [ownName("freeze")]: "true" }),
    ...(credential.isPaused && { "crossplane.io/paused": "true" }),
  };
  if (kind === "RndcKey" || kind === "RotatingResource") {
    const [type, spec] = kind === "RndcKey" ? [rndcKey, rndcSpec(name)] : [rotatingResource, resourceSpec(name)];
    return manifest(type, { namespace, name, annotations }, { ...spec, rotation });
  }
  const draft = FAMILIES[kind].manifest({
    name,
    instanceId: INSTANCE_ID,
    config: "default",
    secretRef: { namespace, name },
    ...(rotation && { rotation }),
    annotations,
  });
  return { ...draft, metadata: { ...draft.metadata, finalizers: [ownName("keys")] } };
}

const manifest = (type: ResourceType, metadata: KubeObject["metadata"], spec: object): Draft<KubeObject> => ({
  apiVersion: apiVersionOf(type),
  kind: type.kind,
  metadata: { ...metadata, finalizers: [ownName("keys")] },
  spec,
});

const rndcSpec = (name: string): object => ({
  secret: { name: `${name}-rndc` },
  keyName: name,
  algorithm: "hmac-sha256",
  strategy: "Overlap",
  instances: [name],
});

const resourceSpec = (name: string): object => ({
  rotationClassName: "certificates",
  serviceAccountName: "rotator",
  template: {
    apiVersion: "cert-manager.io/v1",
    kind: "Certificate",
    spec: { secretName: "$(name)-tls", dnsNames: [`${name}.example.org`], issuerRef: { name: "ca", kind: "Issuer" } },
  },
  childSecret: { name: "$(name)-tls" },
  writeConnectionSecretToRef: { name: `${name}-certificate` },
});
