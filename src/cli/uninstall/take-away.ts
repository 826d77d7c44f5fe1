import { deleteResources } from "./delete-resources.ts";
import { letGo } from "./let-go.ts";
import { removeDefinitions, removeInstallation } from "./remove-installation.ts";
import { ensureStopped, stopOperator } from "./stop-operator.ts";
import type { Work } from "./work.ts";

/**
 * Takes Keyturn away, step by step. Each step looks at what is there and does what is left of it, so that a call goes on where
 * the one before it ended. Keys are deleted while the operator works, finalizers are taken off when nobody does, and rights go
 * last. Must not: decide whether it may; `objections.ts` does.
 */
export async function takeAway(work: Work): Promise<void> {
  if (work.wish.keys === "delete") await deleteResources(work);
  const free = await stopOperator(work);
  await letGo(work);
  // Whoever was started meanwhile has put some back.
  await ensureStopped(work, free);
  await letGo(work);
  await removeInstallation(work);
  if (work.wish.definitions === "delete") await removeDefinitions(work);
}
