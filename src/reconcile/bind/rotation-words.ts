import { parseInstant } from "../../base/instant.ts";
import type { KubeObject } from "../../kube/objects.ts";
import { fieldsOf, itemsOf } from "../managed/read-fields.ts";

const NEXT = /\bNext rotation (\S+Z)\./;

/** When the key is replaced next, as the RndcKey itself says; undefined where it does not. */
export function nextRotationOf({ status }: KubeObject): string | undefined {
  const said = itemsOf(fieldsOf(status).conditions).find(({ type }) => type === "RotationStatus")?.message;
  const text = typeof said === "string" ? NEXT.exec(said)?.[1] : undefined;
  return parseInstant(text) === undefined ? undefined : text;
}
