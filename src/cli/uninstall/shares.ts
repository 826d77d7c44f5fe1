import { isNamespaceOfCluster } from "../../base/object-names.ts";
import type { KubeObject } from "../../kube/objects.ts";
import { secretType } from "../../publish/secret-publisher.ts";
import { namespaceType } from "../../reconcile/restart/restart-sources.ts";
import { deploymentType } from "../../restart/workload-kinds.ts";
import { leaseType } from "../../runtime/lease-record.ts";
import { crdType } from "../../runtime/operator.ts";
import { installerOf, isOurs } from "../check/judge/whose.ts";
import { type Inventory, type Item, isAlone, isHeld, isHelms, type KindFound, objectsOf } from "./inventory.ts";
import type { Wish } from "./wish.ts";

/** A group of objects with one fate, and why it is that one. */
export interface Share {
  /** For programs. */
  readonly group: string;
  readonly title: string;
  /** `released`: it stays, and no finalizer of ours on it. */
  readonly fate: "goes" | "stays" | "released";
  readonly why: string;
  readonly items: readonly Item[];
}

/**
 * What becomes of everything there is, in words that are said before anything is done. Pure. Must not: leave anything of the
 * inventory out.
 */
export function sharesOf(inventory: Inventory, wish: Wish): readonly Share[] {
  const shares = [
    ...installationShares(inventory),
    ...inventory.kinds.flatMap((kind) => resourceShares(kind, wish)),
    ...secretShares(inventory, wish),
    ...madeShares(inventory, wish),
    ...inventory.kinds.flatMap((kind) => definitionShares(kind, inventory, wish)),
    ...ownShares(inventory, wish),
  ];
  return united(shares.filter(({ items }) => items.length > 0));
}

/** Those that differ in their items alone as one. */
function united(shares: readonly Share[]): readonly Share[] {
  const known = new Map<string, Share>();
  for (const share of shares) {
    const key = `${share.group} ${share.fate} ${share.why}`;
    const one = known.get(key);
    known.set(key, one ? { ...one, items: [...one.items, ...share.items] } : share);
  }
  return [...known.values()];
}

function installationShares({ belongings, leases, namespace }: Inventory): readonly Share[] {
  const isOperator = ({ type }: Item): boolean => type === deploymentType;
  const [operators, others] = [belongings.filter(isOperator), belongings.filter((item) => !isOperator(item))];
  const own = leases.filter(({ metadata }) => metadata.namespace === namespace);
  return [
    {
      group: "operator",
      title: "the operator",
      fate: "goes",
      why: "it is stopped before anything else goes, or it would put back what is taken off",
      items: plain(operators),
    },
    helmShare("operator", "the operator, which is stopped", operators),
    {
      group: "installation",
      title: "rights, policies and the rest of the installation",
      fate: "goes",
      why: "nobody needs it without the operator",
      items: [...plain(others), ...own.map((object) => ({ type: leaseType, object }))],
    },
    helmShare("installation", "the rest of the installation", others),
  ];
}

const plain = (items: readonly Item[]): readonly Item[] => items.filter(({ object }) => !isHelms(object));

const helmShare = (group: string, title: string, items: readonly Item[]): Share => {
  const own = items.filter(({ object }) => isHelms(object));
  const { annotations = {} } = own[0]?.object.metadata ?? {};
  const [release, where] = [annotations["meta.helm.sh/release-name"], annotations["meta.helm.sh/release-namespace"]];
  const call = `helm uninstall ${release ?? "RELEASE"}${where === undefined ? "" : ` --namespace ${where}`}`;
  return { group, title, fate: "stays", why: `Helm has installed it, and takes it away: ${call}`, items: own };
};

/** Of a definition that is somebody else's, objects are somebody else's, too; but for our finalizer. */
function resourceShares({ resource, definition, objects }: KindFound, { keys }: Wish): readonly Share[] {
  const items = objects.map((object) => ({ type: resource, object }));
  const common = { group: "resources", title: "resources" };
  if (definition && !isOurs(definition)) {
    const why = `their definition belongs to ${installerOf(definition)}`;
    return released(common, items, { held: `${why}; our finalizer is taken off`, free: why });
  }
  if (keys === "delete") {
    const why = "the operator deletes their keys outside first; with them goes what was made for them";
    return [{ ...common, fate: "goes", why, items }];
  }
  return released(common, items, {
    held: "another installation takes them up as they are; the finalizer is taken off, so that they can be deleted without one",
    free: "another installation takes them up as they are",
  });
}

const released = (
  common: Pick<Share, "group" | "title">,
  items: readonly Item[],
  why: { readonly held: string; readonly free: string },
): readonly Share[] => [
  { ...common, fate: "released", why: why.held, items: items.filter(({ object }) => isHeld(object)) },
  { ...common, fate: "stays", why: why.free, items: items.filter(({ object }) => !isHeld(object)) },
];

function secretShares(inventory: Inventory, { keys }: Wish): readonly Share[] {
  const itemOf = (object: KubeObject): Item => ({ type: secretType, object });
  const [credentials, published] = [inventory.credentials.map(itemOf), inventory.secrets.map(itemOf)];
  const owners = keys === "delete" ? leavingUids(inventory) : new Set<string>();
  const goes = (item: Item): boolean => isOwnedBy(item, owners);
  const ends = ({ object }: Item): boolean => keys === "delete" && isAlone(object);
  const common = { group: "published", title: "Secrets with keys" };
  return [
    ...released({ group: "credentials", title: "Secrets of ProviderConfigs" }, credentials, {
      held: "they are yours; the finalizer is taken off",
      free: "they are yours",
    }),
    { ...common, fate: "goes", why: "they go with their resources", items: published.filter(goes) },
    {
      ...common,
      fate: "goes",
      why: "nothing is left that they were made from",
      items: published.filter(ends),
    },
    {
      ...common,
      fate: "stays",
      why: "the keys in them go on working; each goes with its resource, should somebody delete that",
      items: published.filter((item) => !goes(item) && !ends(item)),
    },
  ];
}

function madeShares(inventory: Inventory, { keys }: Wish): readonly Share[] {
  const owners = keys === "delete" ? leavingUids(inventory) : new Set<string>();
  const common = { group: "made", title: "name servers, and what else was made for resources" };
  const goes = (item: Item): boolean => isOwnedBy(item, owners);
  return [
    { ...common, fate: "goes", why: "it goes with its resources", items: inventory.made.filter(goes) },
    {
      ...common,
      fate: "stays",
      why: "it runs on as it is: nothing is restarted",
      items: inventory.made.filter((item) => !goes(item)),
    },
  ];
}

/** Resources that go, and whatever was made for those. */
function leavingUids(inventory: Inventory): ReadonlySet<string> {
  const kinds = inventory.kinds.filter(({ definition }) => definition && isOurs(definition));
  return new Set(objectsOf({ kinds }).map(({ object }) => object.metadata.uid ?? ""));
}

const isOwnedBy = ({ object }: Item, uids: ReadonlySet<string>): boolean =>
  (object.metadata.ownerReferences ?? []).some(({ uid }) => uids.has(uid));

function definitionShares(
  { definition }: KindFound,
  { operators, namespace }: Inventory,
  { definitions }: Wish,
): readonly Share[] {
  if (!definition) return [];
  const common = { group: "definitions", title: "definitions", items: [{ type: crdType, object: definition }] };
  if (!isOurs(definition)) {
    return [{ ...common, fate: "stays", why: `it belongs to ${installerOf(definition)}` }];
  }
  const other = operators.find(({ metadata }) => metadata.namespace !== namespace);
  if (other) return [{ ...common, fate: "stays", why: `the installation in ${other.metadata.namespace} needs them` }];
  if (definitions === "delete") return [{ ...common, fate: "goes", why: "no resource of theirs is left" }];
  return [{ ...common, fate: "stays", why: "with a definition go its resources, and with those their Secrets" }];
}

function ownShares({ ownSecrets, home, namespace }: Inventory, { keys }: Wish): readonly Share[] {
  const own = { group: "own", title: "the operator's own Secrets" };
  const items = ownSecrets.map((object) => ({ type: secretType, object }));
  return [
    keys === "delete"
      ? { ...own, fate: "goes", why: "nothing is left that they are needed for", items }
      : {
          ...own,
          fate: "stays",
          why: "without them another installation would write every Secret anew, and restart who uses it; and the audit log could not be verified",
          items,
        },
    {
      group: "namespace",
      title: "the namespace",
      fate: "stays",
      why: isNamespaceOfCluster(namespace)
        ? "it is the cluster's own"
        : "what else is in it is yours: kubectl delete namespace, once you need nothing of it",
      items: home ? [{ type: namespaceType, object: home }] : [],
    },
  ];
}
