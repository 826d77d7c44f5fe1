import type { Clock } from "../base/clock.ts";
import { managedKinds } from "../reconcile/managed-kinds.ts";
import type { Onlooker } from "../runtime/onlooker.ts";
import { type Entry, entryOf } from "./entry.ts";
import type { ReadModel } from "./read-model.ts";

/** Fill the read model from the watches that an operator has anyway. */
export const modelOnlookers = (model: ReadModel, clock: Clock): readonly Onlooker[] =>
  managedKinds.map((kind): Onlooker => {
    const onlooker: Onlooker<Entry> = {
      type: kind.type,
      glance: (object) => entryOf(kind, object, clock.now()),
      saw: (_, entry) => model.put(entry),
      lost: (key) => model.remove(`${kind.type.kind}/${key}`),
    };
    return onlooker as Onlooker;
  });
