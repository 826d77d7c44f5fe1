import type { OutsideKey } from "../contract.ts";

/**
 * An operation that this process was told of and that may still be under way. While the Service Manager waits for a
 * broker, the binding itself can be a 404; only the operation tells then, and it can be asked for only by an id that the
 * accepting answer alone contains. Losing one is safe: the answer is then what the binding says, as it is for everything
 * that was begun before a restart.
 */
export type TrackedOperation =
  | { readonly kind: "create"; readonly operationId: string; readonly key: Omit<OutsideKey, "state"> }
  | { readonly kind: "delete"; readonly operationId: string };
