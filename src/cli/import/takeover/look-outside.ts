import { KeyturnError, messageOf } from "../../../base/errors.ts";
import type { RetiredKey } from "../../../engine/model.ts";
import { KubeError } from "../../../kube/errors.ts";
import { ifFound } from "../../../kube/if-found.ts";
import type { KubeObject } from "../../../kube/objects.ts";
import type { Connection, Credentials } from "../../../providers/contract.ts";
import { ProviderError } from "../../../providers/provider-error.ts";
import { connectionData, UnpublishableCredentials } from "../../../publish/connection-data.ts";
import { SecretPublisher, secretType } from "../../../publish/secret-publisher.ts";
import type { ManagedFamily } from "../../../reconcile/managed/family.ts";
import type { LayoutSpec, ManagedSpec } from "../../../reconcile/managed/managed-kind.ts";
import { layoutName } from "../../../reconcile/managed/managed-kind.ts";
import { ownerOf } from "../../../reconcile/managed/marks.ts";
import { fieldsOf } from "../../../reconcile/managed/read-fields.ts";
import { References } from "../../../reconcile/managed/references.ts";
import type { Bench } from "../bench.ts";
import { differencesOf, holdsCredentials, NO_DIFFERENCES, type Texts, textsIn } from "../differences.ts";
import type { OutsideSight, RetiredSight, SecretSight, TakeoverFacts } from "./facts.ts";
import { inOrder } from "./retired-keys.ts";

interface LookOptions {
  readonly bench: Bench;
  readonly family: ManagedFamily;
  /** The resource that is to have the key, where it is there. */
  readonly object: KubeObject | undefined;
  /** The same as it is, or as it is to be made. */
  readonly manifest: KubeObject;
  readonly spec: ManagedSpec;
  readonly keyId: string;
  readonly retired: readonly RetiredKey[];
}

/** Looks at a key, at those that it has replaced, and at what it is published in. Must not: write anything anywhere. */
export async function lookAtKey(options: LookOptions): Promise<TakeoverFacts> {
  const { bench, family, object, spec, keyId } = options;
  const { clusterId } = await bench.identity();
  const common = { family, clusterId, object, spec, keyId, now: bench.now() };
  try {
    const connection = await bench.connect(family, spec.providerConfig);
    const outside = await lookOutside(connection, options);
    const isThere = outside.kind === "seen" && outside.key?.state === "ready";
    return {
      ...common,
      outside,
      retired: await lookAtRetired(connection, options),
      secret: await lookAtSecret(isThere ? connection : undefined, outside, options),
    };
  } catch (error) {
    // What the cluster itself refuses is no finding about a key.
    if (!(error instanceof KeyturnError) || error instanceof KubeError) throw error;
    const problem = messageOf(error);
    return { ...common, outside: { kind: "unknown", problem }, retired: [], secret: { kind: "unseen" } };
  }
}

async function lookOutside(connection: Connection, options: LookOptions): Promise<OutsideSight> {
  const { bench, family, manifest, keyId } = options;
  const forProvider = fieldsOf(fieldsOf(manifest.spec).forProvider);
  const instanceId = await new References(bench.kube).idOf(forProvider, family.instances, bench.signal);
  return { kind: "seen", instanceId, key: await connection.observe(keyId, bench.signal) };
}

async function lookAtRetired(
  connection: Connection,
  { bench, retired, keyId }: LookOptions,
): Promise<readonly RetiredSight[]> {
  const sights: RetiredSight[] = [];
  for (const entry of retired) {
    if (entry.id === keyId) continue;
    sights.push({ entry, key: await connection.observe(entry.id, bench.signal) });
  }
  return inOrder(sights);
}

/** Without a connection nothing is said of what is in it. */
async function lookAtSecret(
  connection: Connection | undefined,
  outside: OutsideSight,
  options: LookOptions,
): Promise<SecretSight> {
  const { bench, spec } = options;
  if (!spec.secret) return { kind: "none" };
  const { namespace, name, layout } = spec.secret;
  const secret = await ifFound(bench.kube.get(secretType, { namespace, name }, { signal: bench.signal }));
  if (!secret) return { kind: "missing" };
  const { data, ...rest } = secret;
  const present = { kind: "present", secret: rest as KubeObject } as const;
  const marked = await marksIn(secret, options);
  if (marked) return { ...present, holdsKey: true, differences: NO_DIFFERENCES, marked };
  if (!connection || outside.kind !== "seen") return { ...present, holdsKey: undefined, differences: NO_DIFFERENCES };
  const credentials = await readCredentials(connection, options);
  if (!credentials) return { ...present, holdsKey: undefined, differences: NO_DIFFERENCES };
  const texts = textsIn(data);
  const holdsKey = holdsCredentials(texts, credentials.reveal());
  try {
    const expected = await expectedTexts(connection, credentials, { layout, instanceId: outside.instanceId, bench });
    return { ...present, holdsKey, differences: differencesOf(texts, expected) };
  } catch (error) {
    if (!(error instanceof UnpublishableCredentials)) throw error;
    return { ...present, holdsKey, differences: NO_DIFFERENCES, problem: error.message };
  }
}

/** What it says of itself, where it is ours already and nobody has edited it since. */
async function marksIn(
  secret: KubeObject,
  { bench, object, family, spec }: LookOptions,
): Promise<Extract<SecretSight, { kind: "present" }>["marked"]> {
  const { fingerprinter } = await bench.identity();
  const isOurs = object && secret.metadata.ownerReferences?.some(({ uid }) => uid === object.metadata.uid);
  if (!fingerprinter || !isOurs || !spec.secret) return undefined;
  const owner = ownerOf(family.kind, object);
  const content = await new SecretPublisher(bench.kube, fingerprinter).read(spec.secret, owner, bench.signal);
  if (!content?.isSound || content.keyId === undefined || content.layout !== layoutName(spec.secret.layout))
    return undefined;
  return { keyId: content.keyId, sequence: content.sequence };
}

async function readCredentials(
  connection: Connection,
  { keyId, bench }: LookOptions,
): Promise<Credentials | undefined> {
  try {
    return await connection.readCredentials(keyId, bench.signal);
  } catch (error) {
    if (error instanceof ProviderError && error.code === "CredentialsUnavailable") return undefined;
    throw error;
  }
}

/** What the operator would publish. */
async function expectedTexts(
  connection: Connection,
  credentials: Credentials,
  { layout, instanceId, bench }: { readonly layout: LayoutSpec; readonly instanceId: string; readonly bench: Bench },
): Promise<Texts> {
  if (layout.kind === "copy") return {};
  if (layout.kind !== "sap-kubernetes") return connectionData(credentials.reveal(), layout);
  const instance = await connection.describeInstance(instanceId, bench.signal);
  if (!instance) throw new UnpublishableCredentials(`there is no service instance ${instanceId}`);
  return connectionData(credentials.reveal(), { ...layout, instance });
}
