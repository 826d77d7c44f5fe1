import { parentName, parentOf, parentWords } from "../resources/children.ts";
import type { ManagedResource } from "../resources/managed-resource.ts";
import { reportOf } from "../status/status-report.ts";
import { moment } from "../words/when.ts";

/**
 * When a child goes, which its parent decides: by the status of that, where it could be looked at. Undefined of a resource
 * that is nobody's child.
 */
export function endByParent(
  child: ManagedResource,
  parent: ManagedResource | undefined,
  now: number,
): string | undefined {
  const owner = parentOf(child);
  if (!owner) return undefined;
  const whose = `it is a child of ${parentName(owner)}, which`;
  const { uid } = child.object.metadata;
  const { active, retired = [], rotationAt = Infinity } = parent ? reportOf(parent, now) : {};
  const former = retired.find(({ id }) => id === uid);
  if (former) {
    const at = Number.isFinite(former.goesAt) ? `at ${moment(former.goesAt, now)}` : "once its successor is published";
    return `${whose} has replaced it, and deletes it ${at}`;
  }
  if (active?.id === uid && Number.isFinite(rotationAt)) {
    const due = rotationAt > now ? "replaces it at" : "should have replaced it at";
    return `${whose} ${due} ${moment(rotationAt, now)}, and deletes it when the overlap is over`;
  }
  return `${whose} replaces and deletes it`;
}

/** To whoever would rotate a child: what they may have meant. */
export function hintAtParent(child: ManagedResource): string | undefined {
  const owner = parentOf(child);
  return (
    owner &&
    `It is a child of ${parentName(owner)}: keyturn rotate ${parentWords(owner)} is what replaces the child itself; this only gives it another key`
  );
}
