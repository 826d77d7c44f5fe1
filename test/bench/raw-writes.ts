import type { KubeObject, ResourceType } from "../../src/kube/objects.ts";
import { secretType } from "../../src/publish/secret-publisher.ts";
import { rate } from "./load.ts";
import { listBindings, listSecrets, type Place } from "./many-bindings.ts";

export const events: ResourceType = {
  group: "events.k8s.io",
  version: "v1",
  plural: "events",
  kind: "Event",
  namespaced: true,
};

/** What one rotation writes until the new key is in use: two statuses, a Secret, metadata, an event. */
export const WRITES_PER_ROTATION = 5;
/** As many at a time as the operator has workers. */
const WIDTH = 32;

/**
 * How many writes a second the server takes from a plain client that does nothing else: the mix of a rotation, on objects
 * of the same size, one after the other for each binding. Returns writes a second.
 */
export async function measureRawWrites(place: Place, run: string): Promise<number> {
  const [bindings, secrets] = [await listBindings(place), await listSecrets(place)];
  const rotations = await rate(bindings.length, WIDTH, async (index) => {
    const binding = bindings[index];
    const secret = binding && secrets.get(binding.metadata.name);
    if (!binding || !secret) throw new Error("a binding without its Secret");
    await writeAsRotation(place, { binding, secret, run });
  });
  return rotations * WRITES_PER_ROTATION;
}

interface RawRotation {
  readonly binding: KubeObject;
  readonly secret: KubeObject;
  /** Different in each run: a write that changes nothing costs the server nothing. */
  readonly run: string;
}

async function writeAsRotation(
  { kube, family: { type } }: Place,
  { binding, secret, run }: RawRotation,
): Promise<void> {
  const note = { "bench.keyturn.dev/run": run };
  const intended = await kube.replace(type, withNote(binding, `${run} intended`), { subresource: "status" });
  const annotations = { ...secret.metadata.annotations, ...note };
  await kube.replace<KubeObject>(secretType, { ...secret, metadata: { ...secret.metadata, annotations } });
  const { name, resourceVersion } = intended.metadata;
  const body = { metadata: { resourceVersion, annotations: note } };
  const activated = await kube.patch(type, { name }, { type: "merge", body });
  await kube.create<KubeObject>(events, eventAbout(activated, run));
  await kube.replace(type, withNote(activated, `${run} committed`), { subresource: "status" });
}

/** Another message in a condition: the operator puts it right when it is back. */
function withNote(binding: KubeObject, message: string): KubeObject {
  const status = (binding.status ?? {}) as { readonly conditions?: readonly { readonly type: string }[] };
  const conditions = (status.conditions ?? []).map((condition) =>
    condition.type === "RotationStatus" ? { ...condition, message } : condition,
  );
  return { ...binding, status: { ...status, conditions } };
}

const eventAbout = ({ apiVersion, kind, metadata }: KubeObject, run: string): KubeObject => ({
  apiVersion: "events.k8s.io/v1",
  kind: "Event",
  metadata: { namespace: "default", name: `${metadata.name}.${run}` },
  eventTime: new Date().toISOString().replace("Z", "000Z"),
  regarding: { apiVersion, kind, name: metadata.name, uid: metadata.uid ?? "" },
  reportingController: "keyturn.dev/bench",
  reportingInstance: "bench",
  type: "Normal",
  reason: "Measured",
  action: "Measure",
  note: "n".repeat(200),
});
