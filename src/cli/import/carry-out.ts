import { Redacted } from "../../base/redacted.ts";
import { Conflict } from "../../kube/errors.ts";
import { ifFound } from "../../kube/if-found.ts";
import type { KubeObject } from "../../kube/objects.ts";
import { apiVersionOf } from "../../kube/objects.ts";
import { SecretPublisher, secretType } from "../../publish/secret-publisher.ts";
import type { ManagedFamily } from "../../reconcile/managed/family.ts";
import { ownerOf } from "../../reconcile/managed/marks.ts";
import { fieldsOf } from "../../reconcile/managed/read-fields.ts";
import { FIELD_MANAGER } from "../field-manager.ts";
import type { Bench } from "./bench.ts";
import type { Action, MarkedPublication } from "./plan.ts";

/** The one place where an import writes. Each write fails with a `Conflict` where somebody else has written since the look. */
export async function carryOut(action: Action, bench: Bench, family: ManagedFamily | undefined): Promise<void> {
  const { kube, signal } = bench;
  const how = { fieldManager: FIELD_MANAGER, signal };
  switch (action.kind) {
    case "identity":
      await bench.makeIdentity();
      return;
    case "create":
      await kube.create<KubeObject>(action.type, action.object, how);
      return;
    case "patch": {
      const { uid, resourceVersion, ...ref } = action.seen;
      const body = { ...action.body, metadata: { ...action.body.metadata, uid, resourceVersion } };
      await kube.patch(action.type, ref, { type: "merge", body }, how);
      return;
    }
    case "status":
      await kube.replace(action.type, action.object, { ...how, subresource: "status" });
      return;
    case "delete": {
      const { uid, resourceVersion, ...ref } = action.seen;
      const exactly = { ...(uid && { uid }), ...(resourceVersion && { resourceVersion }) };
      await kube.delete(action.type, ref, { ...exactly, propagationPolicy: "Background", signal });
      return;
    }
    case "mark":
      await (await bench.connect(familyOf(family), action.providerConfig)).mark(action.keyId, action.marks, signal);
      return;
    case "publish":
      await publish(action.publication, bench);
  }
}

function familyOf(family: ManagedFamily | undefined): ManagedFamily {
  if (!family) throw new RangeError("this is done with keys outside alone");
  return family;
}

/** The data that is there, written again with marks on it: by the publisher itself, so that the operator reads the same. */
async function publish(publication: MarkedPublication, bench: Bench): Promise<void> {
  const { kube, signal } = bench;
  const { kind, address, owner: object, keyId, sequence, layout } = publication;
  const { fingerprinter } = await bench.identity();
  if (!fingerprinter) throw new RangeError("the key of the fingerprints comes first");
  const publisher = new SecretPublisher(kube, fingerprinter);
  const over = await publisher.read(address, ownerOf(kind, object), signal);
  const secret = await ifFound(kube.get(secretType, address, { signal }));
  if (!over || secret?.metadata.resourceVersion !== over.resourceVersion) {
    throw new Conflict(`the Secret ${address.namespace}/${address.name} has changed`);
  }
  const { name, uid = "" } = object.metadata;
  await publisher.write(
    {
      address,
      owner: { apiVersion: apiVersionOf(kind.type), kind: kind.type.kind, name, uid },
      keyId,
      sequence,
      publishedAt: bench.now(),
      layout,
      data: new Redacted({ values: fieldsOf(secret.data) as Readonly<Record<string, string>> }),
      over,
    },
    signal,
  );
}
