import type { OperatorLook } from "../runtime/onlooker.ts";
import type { OperatorView } from "./wire.ts";

export interface OperatorViewParts {
  readonly version: string;
  readonly clockSkewMs: number;
  readonly comparedAt: number | undefined;
}

/** What an operator says of itself. */
export function operatorViewOf(
  look: OperatorLook,
  { version, clockSkewMs, comparedAt }: OperatorViewParts,
): OperatorView {
  const { leader, watches, queues } = look;
  return {
    seenFrom: "operator",
    version,
    ...(leader && { leader: { identity: leader.identity, ...(leader.isThis && { isThis: true }) } }),
    watches,
    queues,
    ...(comparedAt !== undefined && { lastDriftCheckAt: comparedAt }),
    clockSkewMs: Math.round(clockSkewMs),
  };
}
