import { customResources } from "../../api/custom-resources.ts";
import { UsageError } from "../../base/errors.ts";
import type { ManagedKind } from "../../reconcile/managed/managed-kind.ts";
import { managedKinds } from "../../reconcile/managed-kinds.ts";
import { closest } from "../parse-flags.ts";

/** The managed kind that a word means: kind, plural or short name, alone or with its group, in any case. */
export function findKind(word: string, kinds: readonly ManagedKind[] = managedKinds): ManagedKind {
  const wanted = word.toLowerCase();
  const meant = kinds.filter((kind) => namesOf(kind).includes(wanted));
  const [only, other] = meant;
  if (only && !other) return only;
  if (only) {
    throw new UsageError(`"${word}" can mean ${meant.map(fullName).join(" or ")}: give the whole name`);
  }
  const near = closest(wanted, kinds.flatMap(namesOf));
  const hint = near === undefined ? "" : `, did you mean "${near}"?`;
  throw new UsageError(`"${word}" is not a kind that Keyturn rotates${hint} (choose from ${choices(kinds)})`);
}

export const choices = (kinds: readonly ManagedKind[] = managedKinds): string => kindNames(kinds).join(", ");

export const kindNames = (kinds: readonly ManagedKind[] = managedKinds): readonly string[] =>
  kinds.map(({ type }) => type.kind.toLowerCase());

const fullName = ({ type }: ManagedKind): string => `${type.plural}.${type.group}`;

function namesOf({ type }: ManagedKind): readonly string[] {
  const { group, version, plural } = type;
  const kind = type.kind.toLowerCase();
  const served = customResources.find((resource) => resource.group === group && resource.plural === plural);
  const qualified = [plural, kind].flatMap((name) => [`${name}.${group}`, `${name}.${version}.${group}`]);
  return [kind, plural, ...(served?.shortNames ?? []), ...qualified];
}
