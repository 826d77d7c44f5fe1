import { customResources } from "../../api/custom-resources.ts";
import { ifFound } from "../../kube/if-found.ts";
import { secretType } from "../../publish/secret-publisher.ts";
import { leaseType } from "../../runtime/lease-record.ts";
import { crdType } from "../../runtime/operator.ts";
import { isOurs } from "../check/judge/whose.ts";
import { deleteItem } from "./delete-resources.ts";
import { type Item, isAlone, isHelms, titleOf } from "./inventory.ts";
import { lookAround, lookAtKinds } from "./look-around.ts";
import { goOn, seeing, toEach, until, type Work } from "./work.ts";

/** Takes away what was installed, but for what Helm looks after. Must not: be called while anything of ours is held. */
export async function removeInstallation(work: Work): Promise<void> {
  const { wish, namespace } = work;
  const { belongings, leases, ownSecrets, secrets } = await lookAround(work);
  const ended = wish.keys === "delete" ? [...secrets.filter(isAlone), ...ownSecrets] : [];
  const own = leases.filter(({ metadata }) => metadata.namespace === namespace);
  const items: readonly Item[] = [
    ...belongings.filter(({ object }) => !isHelms(object)),
    ...own.map((object) => ({ type: leaseType, object })),
    ...ended.map((object) => ({ type: secretType, object })),
  ];
  // One after the other: rights go after those who have them.
  for (const item of items) {
    goOn(work);
    await toEach(work, [item], async () => {
      await deleteItem(work, item);
      work.tell(`${titleOf(item)}: deleted`);
    });
  }
}

/** Those that are ours, once none of their objects is left. */
export async function removeDefinitions(work: Work): Promise<void> {
  const kinds = await seeing((unseen) => lookAtKinds(work.kube, customResources, unseen));
  const items = kinds.flatMap(({ definition, objects }) =>
    definition && isOurs(definition) && objects.length === 0 ? [{ type: crdType, object: definition }] : [],
  );
  await toEach(work, items, async (item) => {
    await deleteItem(work, item);
    work.tell(`${titleOf(item)}: deleted`);
  });
  let left = items;
  await until(
    work,
    async () => {
      const found = await Promise.all(
        left.map(async (item) => {
          const { name, uid } = item.object.metadata;
          const now = await ifFound(work.kube.get(crdType, { name }));
          return now?.metadata.uid === uid ? [item] : [];
        }),
      );
      left = found.flat();
      return left.length === 0;
    },
    () => `still there: ${left.map(titleOf).join(", ")}`,
  );
}
