import { customResources } from "../../api/custom-resources.ts";
import type { KubeObject } from "../../kube/objects.ts";
import { secretType } from "../../publish/secret-publisher.ts";
import { CREDENTIALS_LABEL } from "../../reconcile/managed/config-keeper.ts";
import { FIELD_MANAGER } from "../field-manager.ts";
import { type Item, isHeld, OWN_FINALIZERS, objectsOf, refOf, titleOf } from "./inventory.ts";
import { lookAtKinds, lookAtSecrets } from "./look-around.ts";
import { seeing, toEach, until, type Work } from "./work.ts";

/**
 * Takes the operator's finalizers off everything that bears one, whosesoever definition it has, until a look shows none.
 * Must not: touch a finalizer of anybody else, or be called while an operator works.
 */
export async function letGo(work: Work): Promise<void> {
  let held: readonly Item[] = [];
  await until(
    work,
    async () => {
      held = await heldItems(work);
      await toEach(work, held, async (item) => {
        await release(work, item);
        work.tell(`${titleOf(item)}: its finalizer is taken off`);
      });
      return held.length === 0;
    },
    () => `finalizers are still on ${held.map(titleOf).join(", ")}`,
  );
}

async function heldItems({ kube }: Work): Promise<readonly Item[]> {
  const kinds = await seeing((unseen) => lookAtKinds(kube, customResources, unseen));
  const secrets = await seeing((unseen) => lookAtSecrets(kube, unseen));
  const items = [...objectsOf({ kinds }), ...secrets.map((object) => ({ type: secretType, object }))];
  return items.filter(({ object }) => isHeld(object));
}

/** At exactly the version that was seen; the label of a Secret goes with it, as it came. */
async function release({ kube }: Work, { type, object }: Item): Promise<void> {
  const body = { metadata: releasedMetadata(object) };
  await kube.patch(type, refOf(object), { type: "merge", body }, { fieldManager: FIELD_MANAGER });
}

function releasedMetadata({ metadata }: KubeObject): object {
  const { uid, resourceVersion, finalizers = [], labels = {} } = metadata;
  return {
    uid,
    resourceVersion,
    finalizers: finalizers.filter((name) => !OWN_FINALIZERS.includes(name)),
    ...(labels[CREDENTIALS_LABEL] !== undefined && { labels: { [CREDENTIALS_LABEL]: null } }),
  };
}
