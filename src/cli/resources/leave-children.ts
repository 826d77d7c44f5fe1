import { parentName, parentOf, parentWords } from "../../insight/resources/children.ts";
import { type ManagedResource, nameOf } from "../../insight/resources/managed-resource.ts";
import type { Output } from "../command.ts";

/** Of many, those that are nobody's key: what is done to a parent is done to its children. How many are left is said. */
export function leaveChildren(resources: readonly ManagedResource[], stderr: Output): readonly ManagedResource[] {
  const others = resources.filter((resource) => !parentOf(resource));
  const count = resources.length - others.length;
  if (count === 1) stderr.write("keyturn: 1 child is left to its parent, which rotates it\n");
  if (count > 1) stderr.write(`keyturn: ${count} children are left to their parents, which rotate them\n`);
  return others;
}

/** To somebody who named a child: what they may have meant. */
export function hintAtParent(
  resource: ManagedResource,
  { command, does }: { readonly command: string; readonly does: string },
  stderr: Output,
): void {
  const parent = parentOf(resource);
  if (!parent) return;
  const instead = `keyturn ${command} ${parentWords(parent)} is what ${does}`;
  stderr.write(`keyturn: ${nameOf(resource)} is a child of ${parentName(parent)}: ${instead}\n`);
}
